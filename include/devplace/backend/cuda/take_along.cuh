// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/take_along.hpp>

namespace devplace::detail {

/// Gives each element of the result a thread, which reads all indices of its sums; or, if these would be more threads
/// than a GPU runs at once, one thread to all sums along the axis. A vector's sums are then no single thread's.
template <class T, class Index> struct add_along_kernel {
  static constexpr unsigned threads = 256;
  static constexpr std::size_t most_elements = std::size_t{1} << 20;

  std::size_t n;
  bool of_elements;
  added_elements<T, Index> f;

  std::size_t blocks() const { return divided_up(n, threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = std::size_t{t.block_index()} * threads + t.thread_index(); i < n; i += stride)
      of_elements ? f.element(i) : f(i);
  }
};

template <class T, class Index>
add_along_kernel<T, Index> make_kernel(std::size_t n, const added_elements<T, Index>& f) {
  const bool of_elements = f.size != 0 && f.size <= add_along_kernel<T, Index>::most_elements / n;
  return {of_elements ? n * f.size : n, of_elements, f};
}

}  // namespace devplace::detail
