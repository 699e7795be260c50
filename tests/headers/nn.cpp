// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/nn/avg_pool1d.hpp>

static_assert(dp::nn::layer_for<dp::nn::avg_pool1d<dp::nn::kernel<2>>, dp::extents<4, 8>>);

#include <devplace/nn/avg_pool2d.hpp>

static_assert(dp::nn::layer_for<dp::nn::avg_pool2d<dp::nn::kernel<2>>, dp::extents<4, 8, 8>>);

#include <devplace/nn/batch_norm.hpp>

static_assert(dp::nn::layer_for<dp::nn::batch_norm<4>, dp::extents<4, 8, 8>>);

#include <devplace/nn/bce_with_logits.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::bce_with_logits{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/concat_of.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::concat_of<passed, passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 16);

#include <devplace/nn/conv1d.hpp>

static_assert(dp::nn::layer_for<dp::nn::conv1d<4, 2, dp::nn::kernel<3>>, dp::extents<4, 8>>);

#include <devplace/nn/conv2d.hpp>

static_assert(dp::nn::layer_for<dp::nn::conv2d<4, 2, dp::nn::kernel<3>>, dp::extents<4, 8, 8>>);

#include <devplace/nn/conv_transpose2d.hpp>

static_assert(dp::nn::layer_for<dp::nn::conv_transpose2d<4, 2, dp::nn::kernel<2>>, dp::extents<4, 8, 8>>);

#include <devplace/nn/cross_entropy.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<std::int32_t, dp::extents<2>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::cross_entropy{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/draw_elements.hpp>

inline void draw(float* data, const dp::nn::initialization& rule) {
  dp::nn::draw_elements<dp::backend::cpu>(0, data, 3, rule, 1, "0.weight", 2);
}

#include <devplace/nn/dropout.hpp>

static_assert(dp::nn::layer_for<dp::nn::dropout<>, dp::extents<8>>);

#include <devplace/nn/elementwise.hpp>

struct doubled {
  template <class T> DEVPLACE_HD T operator()(T x) const { return 2 * x; }
  template <class T> DEVPLACE_HD T derivative(T) const { return 2; }
};
static_assert(dp::nn::layer_for<dp::nn::elementwise<doubled>, dp::extents<8>>);

#include <devplace/nn/elu.hpp>

static_assert(dp::nn::layer_for<dp::nn::elu<>, dp::extents<8>>);

#include <devplace/nn/embedding.hpp>

static_assert(dp::nn::layer_for<dp::nn::embedding<10, 4>, dp::extents<8>>);

#include <devplace/nn/flatten.hpp>

static_assert(dp::nn::layer_for<dp::nn::flatten, dp::extents<4, 8, 8>>);

#include <devplace/nn/frozen.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::frozen<passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/gelu.hpp>

static_assert(dp::nn::layer_for<dp::nn::gelu, dp::extents<8>>);

#include <devplace/nn/global_average_pool.hpp>

static_assert(dp::nn::layer_for<dp::nn::global_average_pool, dp::extents<4, 8, 8>>);

#include <devplace/nn/gradient_check.hpp>

template <class Net> double worst_error() { return dp::nn::check_gradients<Net>(dp::seed{1}).worst; }

#include <devplace/nn/group_norm.hpp>

static_assert(dp::nn::layer_for<dp::nn::group_norm<2, 4>, dp::extents<4, 8, 8>>);

#include <devplace/nn/identity.hpp>

static_assert(dp::nn::layer_for<dp::nn::identity, dp::extents<8>>);

#include <devplace/nn/init.hpp>

static_assert(dp::nn::init::uniform(0.5).spread == 0.5);

#include <devplace/nn/input.hpp>

static_assert(dp::nn::layer_for<dp::nn::input<8>, dp::extents<8>>);

#include <devplace/nn/kl_div.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::kl_div{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/l1.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::l1{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/layer.hpp>

struct half_of {
  template <class In> using output = In;
};
static_assert(dp::nn::layer_for<half_of, dp::extents<8>>);

#include <devplace/nn/layer_norm.hpp>

static_assert(dp::nn::layer_for<dp::nn::layer_norm<8>, dp::extents<4, 8>>);

#include <devplace/nn/layer_summary.hpp>

template <class Net> std::size_t layers() { return dp::nn::layer_summaries<Net>().size(); }

#include <devplace/nn/leaky_relu.hpp>

static_assert(dp::nn::layer_for<dp::nn::leaky_relu<>, dp::extents<8>>);

#include <devplace/nn/learning_rate_times.hpp>

struct passed {
  template <class In> using output = In;
};
using output =
    dp::nn::detail::layer_plan<dp::nn::learning_rate_times<std::ratio<1, 10>, passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/linear.hpp>

static_assert(dp::nn::layer_for<dp::nn::linear<8, 4>, dp::extents<8>>);

#include <devplace/nn/log_softmax.hpp>

static_assert(dp::nn::layer_for<dp::nn::log_softmax, dp::extents<8>>);

#include <devplace/nn/loss.hpp>

static_assert(!dp::nn::loss<int>);

#include <devplace/nn/loss_result.hpp>

inline void pass_back(dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& gradient) {
  const auto marked = dp::nn::output_gradient(std::move(gradient));
}

#include <devplace/nn/max_pool1d.hpp>

static_assert(dp::nn::layer_for<dp::nn::max_pool1d<dp::nn::kernel<2>>, dp::extents<4, 8>>);

#include <devplace/nn/max_pool2d.hpp>

static_assert(dp::nn::layer_for<dp::nn::max_pool2d<dp::nn::kernel<2>>, dp::extents<4, 8, 8>>);

#include <devplace/nn/model.hpp>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>

using net = dp::nn::sequential<dp::nn::input<2>, dp::nn::flatten>;
inline float predict(const dp::tensor<float, dp::extents<1, 2>, dp::on<dp::cpu>>& x) {
  const dp::model<net, dp::on<dp::cpu>> model{dp::seed{1}};
  return model.predict(x)(0, 0);
}

#include <devplace/nn/model_parameters.hpp>

template <class Net> using parameters = dp::model_parameters<Net, dp::on<dp::cpu>, float>;

#include <devplace/nn/model_types.hpp>

template <class Net> using sample = typename dp::model_types<Net, dp::on<dp::cpu>, float>::input_extents;

#include <devplace/nn/mse.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::mse{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/multi_head_attention.hpp>

static_assert(dp::nn::layer_for<dp::nn::multi_head_attention<8, 2>, dp::extents<4, 8>>);

#include <devplace/nn/named.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::named<"head", passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/nll.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<std::int32_t, dp::extents<2>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::nll{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/parameter.hpp>

constexpr dp::nn::parameter_shape shape{2, 3};

#include <devplace/nn/permute.hpp>

static_assert(dp::nn::layer_for<dp::nn::permute<1, 0>, dp::extents<4, 8>>);

#include <devplace/nn/positional_embedding.hpp>

static_assert(dp::nn::layer_for<dp::nn::positional_embedding<4, 8>, dp::extents<4, 8>>);

#include <devplace/nn/predictor.hpp>

template <class Net, class Outputs, class Batch>
int predict(const dp::predictor<Net, dp::on<dp::cpu>>& p, Outputs& y, const Batch& x) {
  return p.try_predict_into(y, x).value();
}

#include <devplace/nn/recomputed.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::recomputed<passed, passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/relu.hpp>

static_assert(dp::nn::layer_for<dp::nn::relu, dp::extents<8>>);

#include <devplace/nn/reshape.hpp>

static_assert(dp::nn::layer_for<dp::nn::reshape<2, 4>, dp::extents<8>>);

#include <devplace/nn/residual.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::residual<passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/rms_norm.hpp>

static_assert(dp::nn::layer_for<dp::nn::rms_norm<8>, dp::extents<4, 8>>);

#include <devplace/nn/saved.hpp>

template <class Output, class Saved> using result = dp::nn::forward_result<Output, Saved>;

#include <devplace/nn/sequential.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::sequential<passed, passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/shared_model.hpp>

template <class Model> auto copied(const Model& shared) { return dp::to<dp::on<dp::cpu>>(shared); }

#include <devplace/nn/sigmoid.hpp>

static_assert(dp::nn::layer_for<dp::nn::sigmoid, dp::extents<8>>);

#include <devplace/nn/silu.hpp>

static_assert(dp::nn::layer_for<dp::nn::silu, dp::extents<8>>);

#include <devplace/nn/smooth_l1.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& output,
                  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& targets) {
  auto [loss, gradient] = dp::nn::smooth_l1{}(output, targets);
  return loss.item() + gradient.gradient(0, 0);
}

#include <devplace/nn/softmax.hpp>

static_assert(dp::nn::layer_for<dp::nn::softmax, dp::extents<8>>);

#include <devplace/nn/softplus.hpp>

static_assert(dp::nn::layer_for<dp::nn::softplus<>, dp::extents<8>>);

#include <devplace/nn/strips.hpp>

using halves = dp::nn::strips<dp::nn::sequential<dp::nn::input<1, 8, 4>, dp::nn::max_pool2d<dp::nn::kernel<2>>>, 2>;
static_assert(dp::nn::network_output_t<halves>::static_extent(1) == 2);

#include <devplace/nn/sum_losses.hpp>

template <class Sums, class Rows, class Sample>
void sum_losses(const Sums& sums, const Rows& rows, const Sample& sample) {
  dp::nn::sum_losses(sums, rows, sample);
}

#include <devplace/nn/sum_of.hpp>

struct passed {
  template <class In> using output = In;
};
using output = dp::nn::detail::layer_plan<dp::nn::sum_of<passed, passed>, dp::extents<8>>::output;
static_assert(output::static_extent(0) == 8);

#include <devplace/nn/tanh.hpp>

static_assert(dp::nn::layer_for<dp::nn::tanh, dp::extents<8>>);

#include <devplace/nn/to.hpp>

template <class Model> auto copied(const Model& model) { return dp::to<dp::on<dp::cpu>>(model); }

#include <devplace/nn/upsample.hpp>

static_assert(dp::nn::layer_for<dp::nn::upsample<2>, dp::extents<4, 8, 8>>);
