// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
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

/// The products of a linear layer: x [rows, inputs], y [rows, outputs], weight [outputs, inputs]. The arrays are
/// contiguous, except that y may be `outputs` columns of a larger array with rows of `stride` elements.
/// Sizes are run-time values and functions are not inlined, so that all layers share the code. Gradients of parameters
/// are float for bf16 and half, otherwise of P's element type.
template <class P, class Backend> struct linear_products {
  using T = element_of_t<P>;
  using gradient = computed_t<T>;
  int ordinal;
  std::size_t rows, inputs, outputs;
  std::size_t stride = outputs;

  /// y = epilogue(x weight^T + bias); `bias` may be null.
  void forward(T* y, const T* x, const T* weight, const T* bias, detail::epilogue last) const;
  /// weight_gradient = dy^T x + beta weight_gradient; bias_gradient = column sums of dy + beta bias_gradient, unless
  /// null; for a contiguous y.
  void parameter_gradients(gradient* weight_gradient, gradient* bias_gradient, const T* dy, const T* x,
                           gradient beta) const;
  /// dx = dy weight + beta dx, unless dx is null.
  template <class Result>
  void input_gradient(Result* dx, const T* dy, const T* weight, gradient beta = gradient{0}) const;

 private:
  template <class Result>
  static gemm_arguments<T, Result> product(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                                           const T* b, std::size_t ldb, Result* c) {
    return {.m = m, .n = n, .k = k, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = n, .math = math_of<P>};
  }
};

template <class P, class Backend>
[[gnu::noinline]] void linear_products<P, Backend>::forward(T* y, const T* x, const T* weight, const T* bias,
                                                            detail::epilogue last) const {
  auto g = product<T>(rows, outputs, inputs, x, inputs, weight, inputs, y);
  g.transpose_b = true;
  g.ldc = stride;
  g.bias = bias;
  g.epilogue = last;
  dispatch<op::matmul, Backend>(ordinal, g);
}
template <class P, class Backend>
[[gnu::noinline]] void linear_products<P, Backend>::parameter_gradients(gradient* weight_gradient,
                                                                        gradient* bias_gradient, const T* dy,
                                                                        const T* x, gradient beta) const {
  auto g = product<gradient>(outputs, inputs, rows, dy, stride, x, inputs, weight_gradient);
  g.transpose_a = true;
  g.beta = beta;
  if (bias_gradient != nullptr)
    dispatch<op::linear_gradients, Backend>(ordinal, g, bias_gradient);
  else
    dispatch<op::matmul, Backend>(ordinal, g);
}
template <class P, class Backend>
template <class Result>
[[gnu::noinline]] void linear_products<P, Backend>::input_gradient(Result* dx, const T* dy, const T* weight,
                                                                   gradient beta) const {
  if (dx == nullptr) return;
  auto g = product<Result>(rows, inputs, outputs, dy, stride, weight, inputs, dx);
  g.beta = beta;
  dispatch<op::matmul, Backend>(ordinal, g);
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
