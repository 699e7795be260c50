// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <devplace/attention.hpp>
#include <devplace/convolution.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>

#include "train/autocast.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using on_cpu = dp::on<dp::cpu>;
using dp::test::batches_in_turn, dp::test::follow_autocast, dp::test::mixed_net, dp::test::row_of;
using images_net = nn::sequential<nn::input<1, 10, 10>, nn::conv2d<1, 8, nn::kernel<3>, nn::padding<1>, nn::no_bias>,
                                  nn::batch_norm<8>, nn::relu, nn::max_pool2d<nn::kernel<2>>,
                                  nn::conv2d<8, 16, nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::relu,
                                  nn::conv_transpose2d<16, 8, nn::kernel<2>, nn::stride<2>>, nn::group_norm<2, 8>,
                                  nn::relu, nn::global_average_pool, nn::linear<8, 5>>;
using transformer = nn::sequential<nn::input<6>, nn::embedding<11, 8>, nn::positional_embedding<6, 8>,
                                   nn::residual<nn::layer_norm<8>, nn::multi_head_attention<8, 2, nn::causal>>,
                                   nn::residual<nn::layer_norm<8>, nn::linear<8, 16>, nn::gelu, nn::linear<16, 8>>,
                                   nn::layer_norm<8>, nn::linear<8, 11>>;

}  // namespace

TEST_CASE("200 steps in mixed<bf16> follow PyTorch's autocast", "[train]") {
  follow_autocast<mixed_net, on_cpu, dp::mixed<dp::bf16>>(batches_in_turn{}, "adam/",
                                                          dp::optim::adam{.learning_rate = 0.002}, 0.02, false);
}

TEST_CASE("200 steps in mixed<half> follow PyTorch's autocast and scaler, and skip the same steps", "[train]") {
  follow_autocast<mixed_net, on_cpu, dp::mixed<dp::half>>(
      batches_in_turn{}, "sgd/", dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.5}, 0.005, true);
}

// One type for each network, because layers and types are independent; `mixed_net` trains in both.
TEST_CASE("200 steps of a network of convolutions in mixed<half> follow PyTorch's autocast", "[train]") {
  const dp::test::batches_of<dp::extents<dp::dyn, 1, 10, 10>> data{.folder = "images/"};
  const dp::optim::adam rule{.learning_rate = 0.002};
  follow_autocast<images_net, on_cpu, dp::mixed<dp::half>>(data, "", rule, 0.02, false);
}

TEST_CASE("200 steps of a transformer in mixed<bf16> follow PyTorch's autocast", "[train]") {
  using integers = dp::extents<dp::dyn, 6>;
  const dp::test::batches_of<integers, std::int32_t, integers> data{.folder = "sequences/"};
  const dp::optim::adam rule{.learning_rate = 0.002};
  follow_autocast<transformer, on_cpu, dp::mixed<dp::bf16>>(data, "", rule, 0.005, false);
}

TEST_CASE("the loss scale follows PyTorch's GradScaler", "[train]") {
  for (const std::string number : {"0", "1", "2"}) {
    const auto options = row_of("decisions/options" + number);
    const auto steps =
        dp::test::read_fixture<double, dp::extents<dp::dyn, 3>>("mixed_precision/decisions/steps" + number);
    const dp::runtime::scaling_rule rule{options[1], options[2], static_cast<std::int64_t>(options[3])};
    dp::runtime::loss_scale scale{static_cast<float>(options[0]), 0, 0, 0};
    std::int64_t skipped = 0;
    for (std::size_t i = 0; i < steps.extent(0); ++i) {
      const bool finite = steps(i, 0) != 0;
      skipped += finite ? 0 : 1;
      scale.decide(rule, finite);
      INFO("case " << number << ", step " << i);
      REQUIRE(static_cast<double>(scale.scale) == steps(i, 1));
      REQUIRE(static_cast<double>(scale.growth_tracker) == steps(i, 2));
      REQUIRE(scale.skips == (finite ? 0u : 1u));
      REQUIRE(scale.skipped_steps == skipped);
    }
  }
}

TEST_CASE("a skipped step does not change parameters, optimizer state or step count", "[train]") {
  // Training without the bad batches gives the same bits. The learning rate changes in every step, and the first step
  // is skipped.
  const batches_in_turn data;
  const auto train = [&](auto rule, bool with_bad) {
    dp::model<mixed_net, on_cpu, dp::mixed<dp::half>> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, rule};
    step.scale_losses({.initial_scale = 1024, .growth_interval = 4});  // optional; 65536 and 2,000 are the defaults
    step.clip({.max_norm = 0.5});
    double history = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      step.optimizer().rule().learning_rate = 0.01 / static_cast<double>(i + 1);
      if (with_bad && i % 5 == 0) {
        const auto before = step.scaler();
        step(data.samples(i, true), data.labels(i));
        const auto after = step.scaler();
        CHECK(after == dp::optim::loss_scaler_state{before.scale / 2, 0, before.skipped_steps + 1});
        step.set_scaler({before.scale, before.growth_tracker, after.skipped_steps});
      }
      step(data.samples(i, false), data.labels(i));
      history += step.scaler().scale;
    }
    CHECK(step.scaler().skipped_steps == (with_bad ? 3 : 0));
    CHECK(step.scaler().scale == 1024 * 8);
    std::vector<float> all{static_cast<float>(history)};
    std::as_const(model).for_each_parameter(
        [&](const std::string&, auto view) { all.insert(all.end(), view.data(), view.data() + view.size()); });
    return all;
  };
  CHECK(train(dp::optim::adam{}, true) == train(dp::optim::adam{}, false));
  const dp::optim::sgd with_dampening{.momentum = 0.9, .dampening = 0.5};
  CHECK(train(with_dampening, true) == train(with_dampening, false));
}

namespace {

/// A user's rule that does not update the working copy that layers read.
struct plain_descent {
  static constexpr std::size_t state_arenas = 0;
  void validate() const {}
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    for (std::size_t i = 0; i < a.n; ++i) a.parameters[i] -= a.gradients[i] / *a.divisor / 8;
  }
};

void require_rounded_parameters(const auto& rule) {
  dp::model<mixed_net, on_cpu, dp::mixed<dp::bf16>> model{dp::seed{1}};
  const batches_in_turn data;
  dp::trainer step{model, nn::cross_entropy{}, rule};
  for (std::size_t i = 0; i < 3; ++i) {
    step(data.samples(i, false), data.labels(i));
    REQUIRE_FALSE(model.state().working_copies_are_old);
    const auto& r = model.state().replicas.front();
    for (std::size_t p = 0; p < dp::runtime::network_plan<mixed_net>::parameter_elements; ++p)
      REQUIRE(r.working_data()[p].bits() == dp::bf16(r.parameter_data()[p]).bits());
  }
}

}  // namespace

TEST_CASE("an update writes the working copies that layers read", "[train]") {
  require_rounded_parameters(dp::optim::adam{});
  require_rounded_parameters(plain_descent{});
}

TEST_CASE("layers see a frozen parameter that was changed before an update", "[train]") {
  using head = nn::sequential<nn::linear<1, 1, false>, nn::frozen<nn::linear<1, 1, false>>>;
  dp::model<head, on_cpu, dp::mixed<dp::bf16>> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<2>{}};
  const dp::tensor<float, dp::extents<1, 1>, on_cpu> x{{1}}, y{{1}};
  step(x, y);
  model.parameter<1>()(0, 0) = 128;
  step.flush();
  const float expected = static_cast<float>(dp::bf16(std::as_const(model).parameter<0>()(0, 0))) * 128;
  CHECK(static_cast<float>(model.predict(x)(0, 0)) == expected);
}

TEST_CASE("loss scaling rejects options out of range", "[train]") {
  using dp::optim::loss_scaling;
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.initial_scale = 0}), dp::argument_error);
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.initial_scale = 1e60}), dp::argument_error);
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.initial_scale = 1e-40}), dp::argument_error);
  CHECK_NOTHROW(dp::optim::validate(loss_scaling{.initial_scale = std::numeric_limits<float>::min()}));
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.growth_factor = 1}), dp::argument_error);
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.backoff_factor = 1}), dp::argument_error);
  CHECK_THROWS_AS(dp::optim::validate(loss_scaling{.growth_interval = 0}), dp::argument_error);
  CHECK_NOTHROW(dp::optim::validate(loss_scaling{}));
}

TEST_CASE("a trainer in mixed<half> allocates exactly the planned memory", "[train]") {
  using model_type = dp::model<mixed_net, on_cpu, dp::mixed<dp::half>>;
  using plan = dp::memory_plan<model_type, dp::batch<32>, dp::optim::adam>;
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  const batches_in_turn data;
  const auto x = data.samples(0, false);
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step.clip({.max_norm = 1});
  step(x, data.labels(0));
  CHECK(dp::memory_statistics<dp::cpu>().allocated - before == plan::bytes);
  STATIC_REQUIRE(2 * plan::working_copy == plan::parameters);
}
