// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

/// f(i) for each i below n: one index per thread, looping with the grid size as stride if indices outnumber threads.
template <class F>
struct for_each_kernel {
  static constexpr unsigned threads = 256;

  std::size_t n;
  F f;

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = std::size_t{t.block_index()} * threads + t.thread_index(); i < n; i += stride)
      f(i);
  }
};

}  // namespace devplace::detail
