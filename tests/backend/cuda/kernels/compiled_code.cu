// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of a classifier's training step and similar ones; compiled_code.sh inspects their machine code.

#include <cstdint>
#include <type_traits>

#include <devplace/ops/attention.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/convolution.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/embedding_gradient.hpp>
#include <devplace/ops/linear_gradients.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/normalize.hpp>
#include <devplace/ops/pooling.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/ops/upsample.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/runtime/round_elements.hpp>

namespace dp = devplace;

template <class T> using matrix = dp::tensor<T, dp::extents<dp::dyn, dp::dyn>, dp::on<dp::cuda<0>>>;
using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>>;

template <class T> void rows(matrix<T>& y, const matrix<T>& x, const labels& targets) {
  dp::softmax_into(y, x);
  dp::log_softmax_into(y, x);
  dp::softmax_backward_into(y, y, x);
  dp::log_softmax_backward_into(y, y, x);
  dp::cross_entropy(x, targets);
}

template <class T> void updates(const dp::optim::step_arguments<T>& arguments) {
  dp::optim::adam{}.step<dp::backend::cuda>(arguments);
  dp::optim::sgd{.momentum = 0.9}.step<dp::backend::cuda>(arguments);
}

/// Instantiates reductions, clipping and elementwise operations, which use 16-byte accesses.
template <class T>
void lines(matrix<T>& y, const matrix<T>& x, dp::tensor<T, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>>& bias,
           const dp::optim::clip_arguments<T>& gradients) {
  dp::sum(x);
  dp::prod(x);
  dp::norm(x);
  dp::logsumexp(x);
  dp::max(x, dp::axis<1>{});
  dp::sum_into(bias, x, dp::axis<0>{});
  dp::argmax(x, dp::axis<1>{});
  dp::optim::clip_norm_into<dp::backend::cuda>({}, gradients);
  y = x + y;
  y = dp::relu(x);
  y = x + bias;
  dp::fill(y, T{1});
  dp::take_rows_into(y, x, dp::argmax(x, dp::axis<1>{}));
}

template <class T>
void products(const dp::detail::gemm_arguments<T>& product, const dp::detail::relu_gradient_arguments<T>& gradient) {
  dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, product);
  dp::detail::dispatch<dp::op::linear_gradients, dp::backend::cuda>(0, product, gradient.sums);
  dp::detail::dispatch<dp::op::relu_gradient, dp::backend::cuda>(0, gradient);
}

/// Instantiates random numbers, dropout and scaling of bytes.
template <class T> void draws(matrix<T>& y, const matrix<std::uint8_t>& bytes) {
  dp::uniform_into(y, dp::seed{1}, 0, 0, 1);
  dp::normal_into(y, dp::seed{1}, 0, 0, 1);
  dp::dropout_into(y, y, 0.5, {});
  dp::scale_bytes_into(y, bytes, dp::byte_scale<T>());
}

/// Instantiates normalizations of rows with elements of type T and weights in float.
template <class T> void normalizations() {
  const auto run = [](const auto& row) { dp::detail::for_each_row<dp::backend::cuda>(0, 1, 1, 1, row); };
  run(dp::detail::normalize_row<float, true, T>{});
  run(dp::detail::normalize_backward_row<float, true, T>{});
  run(dp::detail::normalize_row<float, false, T>{});
}

/// Instantiates the sums of batch_norm and of convolutions' bias gradients.
template <class T> void channel_sums() {
  using namespace dp::detail;
  sum_channels<dp::backend::cuda>(0, {1, 1, 1}, moment_terms<T, float>{});
  sum_channels<dp::backend::cuda>(0, {1, 1, 1}, batch_norm_gradient_terms<T, float, float>{nullptr, nullptr, {}, {}});
  dispatch<dp::op::convolution_bias_gradient, dp::backend::cuda>(0, convolution_bias_gradient_arguments<T>{});
}

/// Instantiates the elementwise passes of batch_norm, pooling, upsample and convolutions.
template <class T> void images() {
  using namespace dp::detail;
  const auto run = [](const auto& f) { for_each_index<dp::backend::cuda>(0, 1, 1, f); };
  run(scale_channels_functor<T, float>{});
  run(batch_norm_gradient_functor<T, float>{});
  run(max_pool_functor<T>{});
  run(max_pool_gradient_functor<T>{});
  run(average_pool_functor<T>{});
  run(average_pool_gradient_functor<T>{});
  run(upsample_functor<T>{});
  run(upsample_gradient_functor<T>{});
  run(unfold_functor<T>{});
  run(gather_functor<T>{});
  run(finish_functor<T>{});
  run(finish_images_functor<T>{});
}

/// Instantiates attention on tensor cores, of heads of up to 32, 64, 96 or 128 elements.
template <class T, unsigned... Columns> void attentions() {
  using namespace dp::detail;
  (dispatch<dp::op::attention, dp::backend::cuda>(0, attention_arguments<T>{}, columns_of_head<Columns>{}), ...);
  (dispatch<dp::op::attention_gradient, dp::backend::cuda>(0, attention_gradient_arguments<T>{},
                                                           columns_of_head<Columns>{}),
   ...);
}

/// Instantiates kernels with 16-bit elements beside 32-bit ones: roundings, an update with rounded parameters, dropout,
/// and the kernels before and after products.
template <class T> void shorts(matrix<T>& y) {
  dp::runtime::round_elements<dp::backend::cuda>(0, static_cast<T*>(nullptr), static_cast<const float*>(nullptr), 1);
  dp::runtime::round_elements<dp::backend::cuda>(0, static_cast<float*>(nullptr), static_cast<const T*>(nullptr), 1);
  dp::optim::adam{}.step<dp::backend::cuda>(dp::optim::working_step_arguments<dp::optim::step_arguments<float>, T>{});
  dp::dropout_into(y, y, 0.5, {});
  dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, dp::detail::gemm_arguments<T>{});
  dp::detail::dispatch<dp::op::relu_gradient, dp::backend::cuda>(0, dp::detail::relu_gradient_arguments<T, float>{});
  attentions<T, 4>();
}

/// Instantiates the other kernels with elements of 16 bits, of one type, because the two types differ in conversions
/// alone.
void more_shorts(matrix<dp::bf16>& y) {
  dp::softmax_into(y, y);
  dp::log_softmax_backward_into(y, y, y);
  normalizations<dp::bf16>();
  dp::detail::dispatch<dp::op::embedding_gradient, dp::backend::cuda>(
      0, dp::detail::embedding_gradient_arguments<dp::bf16, float, std::int64_t>{});
  dp::sum(y, dp::axis<0>{});
  dp::argmax(y, dp::axis<1>{});
  channel_sums<dp::bf16>();
  images<dp::bf16>();
  attentions<dp::bf16, 1, 2, 3>();
}

void all(matrix<float>& y, const matrix<float>& x, const labels& targets, matrix<double>& dy, const matrix<double>& dx,
         const matrix<std::uint8_t>& bytes, matrix<dp::bf16>& by, matrix<dp::half>& hy) {
  rows(y, x, targets);
  rows(dy, dx, targets);
  dp::tensor<float, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>> bias(dp::extents<dp::dyn>{10});
  dp::tensor<double, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>> dbias(dp::extents<dp::dyn>{10});
  lines(y, x, bias, dp::optim::clip_arguments<float>{});
  lines(dy, dx, dbias, dp::optim::clip_arguments<double>{});
  products<float>({}, {});
  products<double>({}, {});
  dp::tensor positive = dp::relu(x + y);
  updates(dp::optim::step_arguments<float>{});
  updates(dp::optim::step_arguments<double>{});
  draws(y, bytes);
  draws(dy, bytes);
  normalizations<float>();
  shorts(by);
  shorts(hy);
  more_shorts(by);
}
