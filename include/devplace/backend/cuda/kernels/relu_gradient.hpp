// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/column_sums.hpp>
#include <devplace/backend/cuda/pack.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// A source of column sums (kernels/column_sums.hpp) that also stores its summands: the gradient of a relu's input; see
/// relu_gradient_arguments. The product with a following layer's weight is summed in the order of the outputs and
/// rounded once.
template <class T, unsigned Width> struct relu_gradient_source {
  using value_type = computed_t<T>;
  static constexpr unsigned width = Width;
  struct read_type {
    pack<T, Width> dy, y;
  };

  T* to;
  const T* dy;
  const T* y;
  std::size_t columns;
  const T* weight = nullptr;
  std::size_t outputs = 0;

  template <class Thread> DEVPLACE_DEVICE read_type read(const Thread& t, std::size_t row, std::size_t column) const {
    return {outputs != 0 ? pack<T, Width>{} : t.template load<T, Width>(dy + row * columns + column),
            t.template load<T, Width>(y + row * columns + column)};
  }
  template <class Thread>
  DEVPLACE_DEVICE pack<value_type, Width> summands(const Thread& t, const read_type& read, std::size_t row,
                                                   std::size_t column) const {
    pack<T, Width> result = outputs != 0 ? product(t, row, column) : read.dy;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < Width; ++e)
      if (static_cast<value_type>(read.y.value[e]) <= 0) result.value[e] = static_cast<T>(value_type{0});
    t.store(to + row * columns + column, result);
    return as_summands(result);
  }

 private:
  template <class Thread>
  DEVPLACE_DEVICE pack<T, Width> product(const Thread& t, std::size_t row, std::size_t column) const {
    pack<value_type, Width> sum{};
    DEVPLACE_DEVICE_NO_UNROLL
    for (std::size_t k = 0; k < outputs; ++k) {
      const auto factor = static_cast<value_type>(dy[row * outputs + k]);
      const pack<value_type, Width> x = as_summands(t.template load<T, Width>(weight + k * columns + column));
      DEVPLACE_DEVICE_UNROLL
      for (unsigned e = 0; e < Width; ++e) sum.value[e] += factor * x.value[e];
    }
    pack<T, Width> result;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < Width; ++e) result.value[e] = static_cast<T>(sum.value[e]);
    return result;
  }
};

}  // namespace devplace::detail
