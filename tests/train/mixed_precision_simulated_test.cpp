// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using on_three = dp::replicated<2, 0, 1>;
using split_net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
constexpr std::size_t split_batch = 10;

struct host_batch {
  dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>> images{dp::extents<dp::dyn, 6>{split_batch}};
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> labels{dp::extents<dp::dyn>{split_batch}};

  explicit host_batch(std::size_t step) {
    for (std::size_t i = 0; i < split_batch; ++i) {
      for (std::size_t j = 0; j < 6; ++j)
        images(i, j) = static_cast<float>((step * 31 + i * 17 + j * 7) % 23) / 16 - 0.5f;
      labels(i) = static_cast<std::int64_t>((i + step) % 3);
    }
  }
};

/// Trains over several places. In the third step only samples of the last place are infinite.
template <class Trainer, class Model> std::vector<float> train_over_places(Model& model, Trainer& step) {
  for (std::size_t i = 0; i < 6; ++i) {
    host_batch batch(i);
    if (i == 2) batch.images(split_batch - 1, 0) = std::numeric_limits<float>::infinity();
    using where = typename Model::batch_placement_type;
    if constexpr (dp::single_place<where>)
      step(dp::to<where>(batch.images), dp::to<where>(batch.labels));
    else
      step(dp::scatter<where>(batch.images), dp::scatter<where>(batch.labels));
  }
  CHECK(step.scaler() == dp::optim::loss_scaler_state{512, 3, 1});
  // The update also refreshes the working copies on every place.
  CHECK_FALSE(model.state().working_copies_are_old);
  for (const auto& r : model.state().replicas) {
    std::vector<float> values(dp::runtime::network_plan<split_net>::parameter_elements);
    std::vector<dp::half> rounded(values.size());
    dp::detail::copy_out<dp::backend::cuda>(r.ordinal, values.data(), r.parameter_data(),
                                            values.size() * sizeof(float));
    dp::detail::copy_out<dp::backend::cuda>(r.ordinal, rounded.data(), r.working_data(),
                                            rounded.size() * sizeof(dp::half));
    for (std::size_t i = 0; i != values.size(); ++i) REQUIRE(rounded[i].bits() == dp::half(values[i]).bits());
  }
  std::vector<std::vector<float>> of_places;
  for (std::size_t k = 0; k < dp::local_place_count<typename Model::placement_type>; ++k) {
    std::vector<float> all;
    std::as_const(model).for_each_parameter(
        [&](const std::string&, auto view) {
          std::vector<float> values(view.size());
          dp::detail::copy_out<dp::backend::cuda>(view.ordinal(), values.data(), dp::detail::raw_data(view),
                                                  values.size() * sizeof(float));
          all.insert(all.end(), values.begin(), values.end());
        },
        k);
    of_places.push_back(all);
  }
  for (const auto& place : of_places) REQUIRE(place == of_places.front());
  return of_places.front();
}

template <class Where, class Policy> std::vector<float> trained_under(const Policy& policy) {
  dp::model<split_net, Where, dp::mixed<dp::half>> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}, policy};
  step.scale_losses({.initial_scale = 1024});
  return train_over_places(model, step);
}

void require_close(const std::vector<float>& values, const std::vector<float>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(std::abs(values[i] - expected[i]) <= 2e-4f);
}

}  // namespace

TEST_CASE("a gradient that is not finite on one place skips the step on all, under every policy", "[train]") {
  const std::vector<float> alone = trained_under<dp::on<dp::cuda<2>>>(dp::collective::all_reduce<>{});
  for (const float parameter : alone) REQUIRE(std::isfinite(parameter));
  const std::vector<float> reduced = trained_under<on_three>(dp::collective::all_reduce<>{});
  require_close(reduced, alone);
  require_close(trained_under<on_three>(dp::collective::scatter_gather{}), alone);
  using each_parameter = dp::collective::buckets<1, 1>;
  CHECK(trained_under<on_three>(dp::collective::sharded_all_reduce<dp::collective::direct, each_parameter>{}) ==
        reduced);
}
