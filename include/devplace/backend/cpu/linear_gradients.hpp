// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/gemm.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/linear_gradients.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Computes the gradient of a relu's input; where y is NaN, the gradient is dy.
template <class T> struct relu_gradient_body {
  T* to;
  const T* dy;
  const T* y;

  void range(std::size_t begin, std::size_t end) const {
    independent_loop(begin, end, [body = *this](std::size_t i) { body.to[i] = body.y[i] <= T{0} ? T{0} : body.dy[i]; });
  }
};

/// Computes sums = column sums of x [rows, columns] + beta sums.
template <class T, class Sum>
void column_sums_on_cpu(std::size_t rows, std::size_t columns, const T* x, Sum* sums, Sum beta) {
  implementation<backend::cpu, op::reduce>::run(
      0, reduction_plan{1, rows, columns, element_source<T>{x}, sum_reducer<T, Sum>{sums, beta}});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace {

template <> struct implementation<backend::cpu, op::linear_gradients> {
  template <class T, class Result, class Engine = detail::default_engine>
  static void run(int, const detail::gemm_arguments<T, Result>& g, Result* bias_gradient) {
    detail::gemm(g);
    detail::column_sums_on_cpu(g.k, g.m, g.a, bias_gradient, g.beta);
  }
};

template <> struct implementation<backend::cpu, op::relu_gradient> {
  template <class T, class Sum> static void run(int, const detail::relu_gradient_arguments<T, Sum>& g) {
    implementation<backend::cpu, op::for_each>::run(0, g.rows * g.columns, 16384,
                                                    detail::relu_gradient_body<T>{g.to, g.dy, g.y});
    detail::column_sums_on_cpu(g.rows, g.columns, g.to, g.sums, g.beta);
  }
};

}  // namespace devplace
