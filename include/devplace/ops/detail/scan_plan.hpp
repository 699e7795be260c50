// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, plan)`, a detail::scan_plan: cumulative sums of integers.
struct scan {};

}  // namespace op

namespace detail {

/// y[i] = x[0] + ... + x[i], modulo 2^64. y may be x.
template <element T> struct scan_plan {
  const T* x;
  std::int64_t* y;
  std::size_t size;
};

// Floating-point sums depend on the order of summation, and CUB's order may vary from run to run. The order is fixed
// here, on every place: sums of chunks, then cumulative sums of these sums, then a second pass over the chunks.

/// Elements per thread: a cache line of a GPU.
inline constexpr std::size_t scan_chunk = 32;

template <class T> struct chunk_sums {
  const T* x;
  std::size_t size;
  double* sums;

  DEVPLACE_HD void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * scan_chunk, end = size - begin < scan_chunk ? size : begin + scan_chunk;
    double sum = 0;
    for (std::size_t i = begin; i != end; ++i) sum += static_cast<double>(x[i]);
    sums[chunk] = sum;
  }
};

/// Cumulative sums of each chunk, starting from the sum of all previous chunks; inclusive or exclusive scans.
template <class T, bool Inclusive> struct chunk_scan {
  const T* x;
  std::size_t size;
  const double* before;  ///< null if there is only one chunk
  T* y;

  DEVPLACE_HD void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * scan_chunk, end = size - begin < scan_chunk ? size : begin + scan_chunk;
    double sum = before == nullptr ? 0 : before[chunk];
    for (std::size_t i = begin; i != end; ++i) {
      const double next = sum + static_cast<double>(x[i]);
      y[i] = static_cast<T>(Inclusive ? next : sum);
      sum = next;
    }
  }
};

}  // namespace detail
}  // namespace devplace
