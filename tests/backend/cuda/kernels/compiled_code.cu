// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels that a training step of a classifier runs, and their like, for compiled_code.sh to look at.

#include <cstdint>

#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/linear_gradients.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>

namespace dp = devplace;

template <class T>
using matrix = dp::tensor<T, dp::extents<dp::dyn, dp::dyn>, dp::on<dp::cuda<0>>>;
using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>>;

template <class T>
void rows(matrix<T>& y, const matrix<T>& x, const labels& targets) {
  dp::softmax_into(y, x);
  dp::log_softmax_into(y, x);
  dp::softmax_backward_into(y, y, x);
  dp::log_softmax_backward_into(y, y, x);
  dp::cross_entropy(x, targets);
}

template <class T>
void updates(const dp::optim::step_arguments<T>& arguments) {
  dp::optim::adam{}.step<dp::backend::cuda>(arguments);
  dp::optim::sgd{.momentum = 0.9}.step<dp::backend::cuda>(arguments);
}

template <class T>
void products(const dp::detail::gemm_arguments<T>& product, const dp::detail::relu_gradient_arguments<T>& gradient) {
  dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, product);
  dp::detail::dispatch<dp::op::linear_gradients, dp::backend::cuda>(0, product, gradient.sums);
  dp::detail::dispatch<dp::op::relu_gradient, dp::backend::cuda>(0, gradient);
}

void all(matrix<float>& y, const matrix<float>& x, const labels& targets, matrix<double>& dy,
         const matrix<double>& dx) {
  rows(y, x, targets);
  rows(dy, dx, targets);
  products<float>({}, {});
  products<double>({}, {});
  dp::sum(x);
  dp::max<1>(x);
  dp::tensor positive = dp::relu(x + y);
  updates(dp::optim::step_arguments<float>{});
  updates(dp::optim::step_arguments<double>{});
}
