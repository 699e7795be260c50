// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/pack.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// Returns whether N elements from `data` on can be read or written as a pack.
template <unsigned N, class T> DEVPLACE_HD inline bool is_aligned(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(pack<T, N>) == 0;
}

/// Returns how many elements a thread takes together if elements have `smallest` to `largest` bytes: 16 bytes of the
/// smallest type, unless the largest type would need more than two accesses.
constexpr unsigned width_of_sizes(std::size_t smallest, std::size_t largest) {
  return static_cast<unsigned>(std::min(16 / smallest, 32 / largest));
}

/// Returns the member `least_blocks` of a body, like that of a kernel (kernel_launch.cuh).
template <class Body> constexpr unsigned least_blocks_of_body() {
  if constexpr (requires { Body::least_blocks; })
    return Body::least_blocks;
  else
    return 0;
}

/// Handles n elements: `groups` groups of Body::width with wide accesses, the rest one by one. A Body has `one(i)` for
/// a single element, `several(thread, i)` for `width` of them, and `is_wide()`: whether `several` can be called.
template <class Body> struct wide_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned least_blocks = least_blocks_of_body<Body>();

  std::size_t n;
  std::size_t groups;
  Body body;

  std::size_t blocks() const { return divided_up(groups + (n - groups * Body::width), threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride) body.several(t, i * Body::width);
    for (std::size_t i = groups * Body::width + first; i < n; i += stride) body.one(i);
  }
};

template <class Body> wide_kernel<Body> make_wide_kernel(std::size_t n, const Body& body) {
  return {n, body.is_wide() ? n / Body::width : 0, body};
}

}  // namespace devplace::detail
