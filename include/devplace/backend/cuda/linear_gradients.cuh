// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/column_sums.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/product.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/ops/linear_gradients.hpp>

namespace devplace::detail {

/// A source of column sums (kernels/column_sums.hpp) that also stores its summands: the gradient of a relu's input; see
/// relu_gradient_arguments. The product with a following layer's weight is summed in order and rounded once.
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
  DEVPLACE_DEVICE pack<value_type, Width> summands(const auto& t, const read_type& read, std::size_t row,
                                                   std::size_t column) const {
    pack<T, Width> result = outputs != 0 ? product(t, row, column) : read.dy;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned e = 0; e < Width; ++e)
      if (static_cast<value_type>(read.y.value[e]) <= 0) result.value[e] = static_cast<T>(value_type{0});
    t.store(to + row * columns + column, result);
    return as_summands(result);
  }

 private:
  DEVPLACE_DEVICE pack<T, Width> product(const auto& t, std::size_t row, std::size_t column) const {
    pack<value_type, Width> sum{};
    DEVPLACE_DEVICE_NO_UNROLL
    for (std::size_t k = 0; k < outputs; ++k) {
      const auto factor = static_cast<value_type>(dy[row * outputs + k]);
      const pack<value_type, Width> x = as_summands(t.template load<T, Width>(weight + k * columns + column));
      DEVPLACE_DEVICE_UNROLL
      for (unsigned e = 0; e < Width; ++e) sum.value[e] += factor * x.value[e];
    }
    return pack_of<T, Width>([&sum](unsigned e) { return static_cast<T>(sum.value[e]); });
  }
};

/// Computes the product `g`, which is C = dY^T X + beta C (`g.a` is dY), and sums = column sums of dY + beta sums. If
/// beta is 0, cuBLASLt's epilogue computes the sums along with the product; the epilogue cannot add to existing sums.
template <class T, class C, class Launch>
void multiply_with_sums(int ordinal, const gemm_arguments<T, C>& g, C* sums, const Launch& launch) {
  const bool for_library = g.m > 1 && g.n > 1 && g.k > 1 && g.beta == 0;
  if (for_library && multiply_by_library(ordinal, gemm_batch<T, C>{g}, library_epilogue::row_sums, sums)) return;
  multiply(ordinal, g, launch);
  sum_columns<matrix_source, T>(ordinal, g.k, g.m, has_wide_rows<widest_access<T>>(g.a, g.lda),
                                sum_result<C, C, T>{sums, 1, 1, g.beta}, launch, g.a, g.lda);
}

/// Makes one pass over the gradient. A product with few outputs reads and writes less here than in a launch of its own.
template <class T, class Sum, class Launch>
void relu_gradient(int ordinal, const relu_gradient_arguments<T, Sum>& g, const Launch& launch) {
  constexpr unsigned wide = widest_access<T>;
  const bool aligned = has_wide_rows<wide>(g.to, wide) && has_wide_rows<wide>(g.y, wide) &&
                       has_wide_rows<wide>(g.outputs == 0 ? g.dy : g.weight, wide);
  sum_columns<relu_gradient_source, T>(ordinal, g.rows, g.columns, aligned,
                                       sum_result<Sum, Sum, T>{g.sums, 1, 1, g.beta}, launch, g.to, g.dy, g.y,
                                       g.columns, g.weight, g.outputs);
}

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::linear_gradients> {
  template <class T, class Result>
  static void run(int ordinal, const detail::gemm_arguments<T, Result>& g, Result* bias_gradient) {
    detail::multiply_with_sums(ordinal, g, bias_gradient, detail::kernel_launch{ordinal});
  }
};

template <> struct implementation<backend::cuda, op::relu_gradient> {
  // By the estimates in docs/gpu-runs.md, a product of up to about 30 outputs in float takes less time than the memory
  // traffic of a separate product; 16 leaves a margin.
  static constexpr std::size_t most_outputs = 16;
  template <class T, class Sum> static void run(int ordinal, const detail::relu_gradient_arguments<T, Sum>& g) {
    detail::relu_gradient(ordinal, g, detail::kernel_launch{ordinal});
  }
};

}  // namespace devplace
