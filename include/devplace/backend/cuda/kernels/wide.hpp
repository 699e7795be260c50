// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// N adjacent elements that a GPU thread reads or writes together: up to 16 bytes with one instruction, or 32 bytes
/// with two (for the larger of two element types). The address is a multiple of one access's size.
template <class T, unsigned N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) pack {
  static_assert(N * sizeof(T) <= 32 && (N & (N - 1)) == 0, "a pack is one access or two, and has 2^n elements");
  T value[N];
};

/// Returns the pack of f(0), f(1), ...
template <class T, unsigned N> DEVPLACE_DEVICE pack<T, N> pack_of(const auto& f) {
  pack<T, N> result;
  DEVPLACE_DEVICE_UNROLL
  for (unsigned k = 0; k < N; ++k) result.value[k] = f(k);
  return result;
}

/// Number of elements in a 16-byte access, a thread's widest.
template <class T> inline constexpr unsigned widest_access = 16 / sizeof(T);

/// Returns whether N elements from `data` on can be read or written as a pack.
template <unsigned N, class T> DEVPLACE_HD inline bool is_aligned(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(pack<T, N>) == 0;
}

/// Returns how many elements a thread takes together if elements have `smallest` to `largest` bytes: 16 bytes of the
/// smallest type, unless the largest type would need more than two accesses.
constexpr unsigned width_of_sizes(std::size_t smallest, std::size_t largest) {
  return static_cast<unsigned>(std::min(16 / smallest, 32 / largest));
}

/// Returns the minimum number of blocks per multiprocessor: the member `least_blocks` of a kernel or its body, or 0 for
/// the compiler's choice. The minimum limits the registers per thread; the compiler spills the rest.
template <class Body> constexpr unsigned least_blocks_of() {
  if constexpr (requires { Body::least_blocks; })
    return Body::least_blocks;
  else
    return 0;
}

/// Several elements of the functor F at a time. Defined in <operation>.cuh for functors that have such a form: the
/// functor `f` of a single element, `several(thread, i)` for `width` of them, and `is_wide()`: whether `several` can be
/// called.
template <class F> struct wide_form;

/// Handles n elements: `groups` groups of wide_form's width with wide accesses, the rest one by one.
template <class F> struct wide_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned width = wide_form<F>::width;
  static constexpr unsigned least_blocks = least_blocks_of<wide_form<F>>();

  std::size_t n;
  std::size_t groups;
  wide_form<F> form;

  std::size_t blocks() const { return divided_up(groups + (n - groups * width), threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride) form.several(t, i * width);
    for (std::size_t i = groups * width + first; i < n; i += stride) form.f(i);
  }
};

/// Calls f(i) for each i below n: one index per thread, in a grid-stride loop if indices outnumber threads.
template <class F> struct for_each_kernel {
  static constexpr unsigned threads = 256;

  std::size_t n;
  F f;

  std::size_t blocks() const { return divided_up(n, threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = std::size_t{t.block_index()} * threads + t.thread_index(); i < n; i += stride) f(i);
  }
};

/// Returns the kernel of a functor. Functors with a kernel of their own have overloads in <operation>.cuh.
template <class F> auto make_kernel(std::size_t n, const F& f) {
  if constexpr (requires { sizeof(wide_form<F>); }) {
    const wide_form<F> form{f};
    return wide_kernel<F>{n, form.is_wide() ? n / form.width : 0, form};
  } else {
    return for_each_kernel<F>{n, f};
  }
}

template <class F, class Launch> void with_kernel(std::size_t n, const F& f, const Launch& launch) {
  const auto kernel = make_kernel(n, f);
  launch(kernel.blocks(), kernel);
}

}  // namespace devplace::detail
