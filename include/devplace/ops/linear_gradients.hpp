// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/matmul.hpp>

// Operations, except plain products, of the backward pass of a linear layer and of a relu that follows the layer. The
// views come from a layer's pass, so the extents match by construction.

namespace devplace::op {

/// `run(ordinal, gemm_arguments<T, Result>, Result* bias_gradient)`: the gradient of a weight, dY^T X, together with
/// the column sums of dY. For bf16 and half the result is float.
struct linear_gradients {};

/// `run(ordinal, relu_gradient_arguments<T, Sum>)`: the gradient of a relu's input together with its column sums.
/// A member `most_outputs` is the largest number of outputs of a product that `run` also computes; without the member,
/// `run` computes none.
struct relu_gradient {};

}  // namespace devplace::op

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// weight = dy^T x + beta weight, bias = column sums of dy + beta bias. Shapes: weight [out, in], bias [out], dy [n,
/// out], x [n, in]. The product is in precision P. The gradients are float for bf16 and half, otherwise of P's element
/// type.
template <class P, class Weight, class Bias, class Dy, class X, class T = element_of_t<P>,
          class Gradient = computed_t<T>>
void linear_gradients_into(const Weight& weight, const Bias& bias, const Dy& dy, const X& x, Gradient beta) {
  gemm_arguments<T, Gradient> g;
  g.m = weight.extent(0), g.n = weight.extent(1), g.k = dy.extent(0);
  g.transpose_a = true;
  g.a = dy.data(), g.lda = g.m, g.b = x.data(), g.ldb = g.n;
  g.beta = beta;
  g.c = weight.data(), g.ldc = g.n;
  g.math = math_of<P>;
  dispatch<op::linear_gradients, typename Weight::backend_type>(weight.ordinal(), g, bias.data());
}

/// to = 0 where y <= 0, else dy, and sums = column sums of `to` + beta sums. Shapes: sums [n], the others [m, n]; `to`
/// may be `dy`. The sums are float for bf16 and half. See relu_gradient_arguments about `weight` and `outputs`.
template <class To, class Dy, class Y, class Sums, class T = typename To::value_type, class Sum = computed_t<T>>
void relu_gradient_into(const To& to, const Dy& dy, const Y& y, const Sums& sums, Sum beta, const T* weight = nullptr,
                        std::size_t outputs = 0) {
  dispatch<op::relu_gradient, typename To::backend_type>(
      to.ordinal(), relu_gradient_arguments<T, Sum>{to.extent(0), sums.extent(0), to.data(), dy.data(), y.data(),
                                                    sums.data(), beta, weight, outputs});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/linear_gradients.hpp>
#include DEVPLACE_BACKENDS(linear_gradients)
