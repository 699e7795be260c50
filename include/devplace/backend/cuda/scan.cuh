// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/scan_plan.hpp>
#include <devplace/place/error.hpp>

namespace devplace {

namespace detail {

/// Integers as CUB is to add them: in 64 bits, without a sign so that the sum may wrap.
template <class T>
class widened_integers {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::uint64_t*;
  using reference = std::uint64_t;

  DEVPLACE_HD explicit widened_integers(const T* at) : at_(at) {}

  DEVPLACE_HD std::uint64_t operator*() const { return widen(*at_); }
  DEVPLACE_HD std::uint64_t operator[](std::ptrdiff_t i) const { return widen(at_[i]); }
  DEVPLACE_HD widened_integers& operator+=(std::ptrdiff_t n) {
    at_ += n;
    return *this;
  }
  DEVPLACE_HD friend widened_integers operator+(widened_integers a, std::ptrdiff_t n) { return a += n; }
  DEVPLACE_HD friend std::ptrdiff_t operator-(widened_integers a, widened_integers b) { return a.at_ - b.at_; }

 private:
  DEVPLACE_HD static std::uint64_t widen(T x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); }

  const T* at_;
};

}  // namespace detail

template <>
struct implementation<backend::cuda, op::scan> {
  template <class T, class Tu = detail::this_tu>
  static void run(int ordinal, const detail::scan_plan<T>& plan) {
    // CUB counts in int before version 3, which CUDA 13.0 has.
    constexpr std::size_t most = CUB_VERSION < 300000 ? std::size_t{INT_MAX} : std::size_t{INT64_MAX};
    if (plan.size > most)
      throw shape_error("cumsum: the operand has " + std::to_string(plan.size) +
                        " integers, and with the CUDA Toolkit of this program a device adds up 2^31 - 1 at most; build "
                        "with CUDA 13.0 or newer, or add up parts of it.");
    const detail::cuda_scope device(ordinal);
    const auto scan = [&](void* memory, std::size_t& bytes) {
      detail::check_cuda(cub::DeviceScan::InclusiveSum(memory, bytes, detail::widened_integers<T>(plan.x),
                                                       reinterpret_cast<std::uint64_t*>(plan.y),
                                                       static_cast<std::int64_t>(plan.size), device.stream()),
                         "cub::DeviceScan::InclusiveSum", ordinal);
    };
    std::size_t bytes = 0;
    scan(nullptr, bytes);
    // CUB takes a null pointer for the question how much it needs.
    const detail::memory_block temporary =
        detail::allocate<backend::cuda, Tu>(ordinal, bytes == 0 ? 1 : bytes, memory_purpose::workspace);
    scan(temporary.data(), bytes);
    detail::after_launch(device, ordinal, "cub::DeviceScan::InclusiveSum");
  }
};

}  // namespace devplace
