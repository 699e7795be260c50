// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include <cub/device/device_scan.cuh>

#include <devplace/backend/cuda/cub.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/ops/detail/scan_plan.hpp>

namespace devplace {

namespace detail {

/// Integers as input of CUB's sum, widened to unsigned 64-bit numbers so that overflow wraps. Adds the sum of the
/// elements before the range, if any, to the first element.
template <class T> class widened_integers {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::uint64_t*;
  using reference = std::uint64_t;

  DEVPLACE_HD widened_integers(const T* first, const std::int64_t* sum_before)
      : first_(first), current_(first), sum_before_(sum_before) {}

  DEVPLACE_HD std::uint64_t operator*() const { return widen(current_); }
  DEVPLACE_HD std::uint64_t operator[](std::ptrdiff_t i) const { return widen(current_ + i); }
  DEVPLACE_HD widened_integers& operator+=(std::ptrdiff_t n) {
    current_ += n;
    return *this;
  }
  DEVPLACE_HD friend widened_integers operator+(widened_integers a, std::ptrdiff_t n) { return a += n; }
  DEVPLACE_HD friend std::ptrdiff_t operator-(widened_integers a, widened_integers b) {
    return a.current_ - b.current_;
  }

 private:
  DEVPLACE_HD std::uint64_t widen(const T* at) const {
    const auto own = static_cast<std::uint64_t>(static_cast<std::int64_t>(*at));
    return at == first_ && sum_before_ != nullptr ? own + static_cast<std::uint64_t>(*sum_before_) : own;
  }

  const T* first_;
  const T* current_;
  const std::int64_t* sum_before_;
};

}  // namespace detail

template <> struct implementation<backend::cuda, op::scan> {
  /// Scans long arrays in pieces of `longest`, because CUB of CUDA 12 counts elements in an int.
  template <class T>
  static void run(int ordinal, const detail::scan_plan<T>& plan, std::size_t longest = std::size_t{1} << 30) {
    const detail::cuda_scope device(ordinal);
    const std::int64_t* sum_before = nullptr;
    for (std::size_t begin = 0; begin < plan.size; begin += longest) {
      const int count = static_cast<int>(plan.size - begin < longest ? plan.size - begin : longest);
      std::int64_t* const sums = plan.y + begin;
      detail::run_cub(device, ordinal, "cub::DeviceScan::InclusiveSum", [&](void* memory, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, detail::widened_integers<T>(plan.x + begin, sum_before),
                                             reinterpret_cast<std::uint64_t*>(sums), count, device.stream());
      });
      sum_before = sums + count - 1;
    }
  }
};

}  // namespace devplace
