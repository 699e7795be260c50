// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

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

/// Returns the kernel of a functor. Functors that read or write several elements per access have overloads in
/// <operation>.cuh that return other kernels.
template <class F> for_each_kernel<F> make_kernel(std::size_t n, const F& f) { return {n, f}; }

template <class F, class Launch> void with_kernel(std::size_t n, const F& f, const Launch& launch) {
  const auto kernel = make_kernel(n, f);
  launch(kernel.blocks(), kernel);
}

}  // namespace devplace::detail
