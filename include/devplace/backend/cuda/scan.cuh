// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include <devplace/backend/cuda/cub.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/ops/detail/scan_plan.hpp>

namespace devplace {

namespace detail {

template <> inline constexpr bool scans_integers<backend::cuda> = true;

/// Returns the values f(0), f(1), ... as input of CUB.
template <class F> auto computed_values(const F& f) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::ptrdiff_t>(0), f);
}

/// Integers, widened to unsigned 64-bit numbers so that overflow wraps. The first one is combined with the result
/// before it, if any.
template <class T, bool Product> struct widened_integers {
  const T* x;
  const std::int64_t* before;

  DEVPLACE_HD std::uint64_t operator()(std::ptrdiff_t i) const {
    const auto own = static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i]));
    if (i != 0 || before == nullptr) return own;
    return Product ? own * static_cast<std::uint64_t>(*before) : own + static_cast<std::uint64_t>(*before);
  }
};

struct row_of_element {
  std::size_t begin, columns;
  DEVPLACE_HD std::uint64_t operator()(std::ptrdiff_t i) const {
    return quotient(begin + static_cast<std::size_t>(i), columns);
  }
};

}  // namespace detail

template <> struct implementation<backend::cuda, op::scan> {
  /// Scans long arrays in pieces of `longest`, because CUB of CUDA 12 counts elements in an int.
  template <class T, bool Product, bool Rows>
  static void run(int ordinal, const detail::scan_plan<T, Product, Rows>& plan,
                  std::size_t longest = std::size_t{1} << 30) {
    using combine = std::conditional_t<Product, ::cuda::std::multiplies<>, ::cuda::std::plus<>>;
    const detail::cuda_scope device(ordinal);
    const std::int64_t* before = nullptr;
    for (std::size_t begin = 0; begin < plan.size; begin += longest) {
      const int count = static_cast<int>(plan.size - begin < longest ? plan.size - begin : longest);
      const auto values = detail::computed_values(detail::widened_integers<T, Product>{plan.x + begin, before});
      std::int64_t* const y = plan.y + begin;
      detail::run_cub(device, ordinal, "cub::DeviceScan", [&](void* memory, std::size_t& bytes) {
        const auto to = reinterpret_cast<std::uint64_t*>(y);
        if constexpr (Rows)
          return cub::DeviceScan::InclusiveScanByKey(
              memory, bytes, detail::computed_values(detail::row_of_element{begin, plan.columns}), values, to,
              combine(), count, ::cuda::std::equal_to<>(), device.stream());
        else
          return cub::DeviceScan::InclusiveScan(memory, bytes, values, to, combine(), count, device.stream());
      });
      const bool row_ends = Rows && (begin + longest) % plan.columns == 0;
      before = row_ends ? nullptr : y + count - 1;
    }
  }
};

}  // namespace devplace
