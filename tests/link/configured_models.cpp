// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training, prediction and copies of models, for the symbol test; never run.

#include <cstdint>
#include <string>

#include <devplace/all.hpp>
#include <devplace/fully_sharded.hpp>
#include <devplace/in_parts.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/upsample.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/train/checkpoint.hpp>

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::batch_norm<8>, nn::relu, nn::frozen<nn::linear<8, 8>>,
                           nn::recomputed<nn::residual<nn::linear<8, 8>>>, nn::linear<8, 3>>;
using joint_net = nn::sequential<nn::linear<6, 8>, nn::batch_norm<8, nn::over_all_places>, nn::linear<8, 3>>;
/// A network with a layer that models in shares gather in slices.
using large = nn::sequential<nn::linear<6, 8>, nn::linear<8, 40000>, nn::linear<40000, 3>>;

template <class Where, class P = float, class Rule = dp::optim::adam,
          class Policy = collective::default_policy_t<Where>, class Net = net>
void use_model(const std::string& file) {
  using model_type = dp::model<Net, Where, P>;
  model_type model{dp::seed{3}};
  const auto x = dp::to_batch<Where>(dp::zeros<typename model_type::input_type, dp::cpu>(dp::extents<dp::dyn, 6>{4}));
  const auto y = dp::to_batch<Where>(dp::zeros<std::int64_t, dp::cpu>(dp::extents<dp::dyn>{4}));
  dp::trainer step{model, nn::cross_entropy{}, Rule{}, Policy{}};
  static_cast<void>(step(x, y).item());
  dp::moving_average average{model, {.decay = 0.9}};
  average.update(model);
  dp::save_checkpoint(step, {1, 2}, file, average);
  dp::load_checkpoint(step, file, average);
  auto outputs = model.predict(x + x);
  model.predict_into(outputs, x);
  static_cast<void>(model.try_predict_into(outputs, x));
  dp::save_parameters(model, file);
  dp::load_parameters(model, file);
  model.assign(dp::to<dp::cpu>(model));
  if constexpr (dp::stores_shares<Where>) {
    model = dp::to<Where>(dp::to<dp::cpu>(model));
  } else {
    dp::predictor predictor{model, dp::batch<8>{}};
    predictor.predict_into(outputs, x);
    static_cast<void>(predictor.try_predict_into(outputs, x));
    predictor.assign(model);
  }
}

using image_net = nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 4, nn::kernel<3>, nn::padding<1>>, nn::batch_norm<4>,
                                 nn::max_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::group_norm<2, 4>,
                                 nn::dropout<>, nn::avg_pool2d<nn::kernel<2>>, nn::upsample<4>>;

template <class P> void use_images(const std::string& file) {
  using where = dp::in_parts<dp::axis<2>, 0, 1>;
  dp::model<image_net, where, P> model{dp::seed{3}};
  const auto x = dp::to_batch<where>(dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, 2, 8, 4>{4}));
  const auto y = dp::to_batch<where>(dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, 4, 8, 4>{4}));
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}};
  static_cast<void>(step(x, y).item());
  step.prepare(4);
  dp::save_checkpoint(step, {1, 2}, file);
  static_cast<void>(model.predict(x + x));
  model.assign(dp::to<dp::cpu>(model));
}

}  // namespace

// A line for each placement, policy or precision that instantiates other templates of functions than the rest.
void use_models(const std::string& file) {
  static_cast<void>(dp::available<dp::replicated<0, 1>>());
  use_model<dp::replicated<0, 1>, dp::mixed<dp::half>>(file);
  use_model<dp::replicated<0, 1>, float, dp::optim::adam, collective::sharded_all_reduce<collective::ring>>(file);
  use_model<dp::across<dp::cuda<0>>>(file);
  use_model<dp::replicated<0, 1>, float, dp::optim::adam, collective::all_reduce<>, joint_net>(file);
  use_model<dp::fully_sharded<0, 1>, dp::mixed<dp::bf16>, dp::optim::on_host<dp::optim::adam>>(file);
  use_model<dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>>(file);
  use_model<dp::spread<dp::mesh<dp::shares<2, 1>>, 0, 1>, dp::mixed<dp::bf16>, dp::optim::adam,
            collective::gather_units<>, large>(file);
  use_model<dp::across<dp::cuda<0>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2>>>>(file);
  use_images<float>(file);
  use_images<dp::mixed<dp::bf16>>(file);
}
