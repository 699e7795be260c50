// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using on_cpu = dp::on<dp::cpu>;
using mixed_net =
    nn::sequential<nn::linear<12, 24>, nn::relu, nn::linear<24, 16>, nn::tanh, nn::layer_norm<16>, nn::linear<16, 5>>;
using images_net = nn::sequential<nn::input<1, 10, 10>, nn::conv2d<1, 8, nn::kernel<3>, nn::padding<1>, nn::no_bias>,
                                  nn::batch_norm<8>, nn::relu, nn::max_pool2d<nn::kernel<2>>,
                                  nn::conv2d<8, 16, nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::relu,
                                  nn::conv_transpose2d<16, 8, nn::kernel<2>, nn::stride<2>>, nn::group_norm<2, 8>,
                                  nn::relu, nn::global_average_pool, nn::linear<8, 5>>;
constexpr std::size_t in_batch = 32, batches_of_data = 4, steps_of_fixture = 200;

/// A fixture of one axis.
std::vector<double> row_of(const std::string& name) {
  const auto values = dp::read_npy<double, dp::extents<dp::dyn>>(dp::test::reference_path("mixed_precision/" + name));
  return {values.data(), values.data() + values.size()};
}

/// `folder` is empty or ends in a slash.
template <class Model>
void start_as_pytorch(Model& model, const std::string& folder) {
  std::size_t number = 0;
  model.for_each_parameter([&](const std::string&, auto to) {
    using extents = typename decltype(to)::extents_type;
    dp::copy(to, dp::read_npy<float, extents>(dp::test::reference_path("mixed_precision/" + folder + "start" +
                                                                       std::to_string(number++) + ".npy")));
  });
}

/// The fixture's batches of samples.
template <std::size_t... Sample>
struct batches_of {
  std::string folder = {};
  dp::tensor<float, dp::extents<dp::dyn, Sample...>, on_cpu> all = dp::read_npy<float, dp::extents<dp::dyn, Sample...>>(
      dp::test::reference_path("mixed_precision/" + folder + "x.npy"));
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> classes = dp::read_npy<std::int64_t, dp::extents<dp::dyn>>(
      dp::test::reference_path("mixed_precision/" + folder + "labels.npy"));

  auto images(std::size_t step, bool bad) const {
    const std::size_t first = step % batches_of_data * in_batch;
    dp::tensor<float, dp::extents<dp::dyn, Sample...>, on_cpu> x(dp::extents<dp::dyn, Sample...>{in_batch});
    dp::copy(x, all.view().slice(first, first + in_batch));
    if (bad) x.data()[0] = std::numeric_limits<float>::infinity();
    return x;
  }
  auto labels(std::size_t step) const {
    const std::size_t first = step % batches_of_data * in_batch;
    return classes.view().slice(first, first + in_batch);
  }
};
using batches_in_turn = batches_of<12>;

bool is_bad_step(std::size_t step) {
  return step == 40 || step == 41 || step == 100;
}

/// Trains as the fixture's PyTorch under autocast, from the data's folder; the losses are within `tolerance` of its
/// losses.
template <class Net, class P, class Data, class Rule>
void follow_autocast(const Data& data, const std::string& name, const Rule& rule, double tolerance,
                     bool with_bad_steps) {
  constexpr bool scales = dp::scales_losses<P>;
  dp::model<Net, on_cpu, P> model{dp::seed{1}};
  start_as_pytorch(model, data.folder);
  dp::trainer step{model, nn::cross_entropy{}, rule};
  const std::vector<double> expected = row_of(data.folder + name + (scales ? "half.npy" : "bf16.npy"));
  const std::vector<double> scale =
      with_bad_steps ? row_of(name + "scale.npy") : std::vector<double>(steps_of_fixture, 65536.0);
  double worst = 0;
  std::int64_t skipped = 0;
  const std::size_t steps = support::sanitized ? 60 : steps_of_fixture;
  for (std::size_t i = 0; i < steps; ++i) {
    const bool bad = scales && with_bad_steps && is_bad_step(i);
    const double loss = static_cast<double>(step(data.images(i, bad), data.labels(i)).item());
    INFO("step " << i << ": " << loss << ", PyTorch " << expected[i]);
    if constexpr (scales) {
      skipped += bad ? 1 : 0;
      const dp::optim::loss_scaler_state now = step.scaler();
      REQUIRE(now.scale == scale[i]);
      REQUIRE(now.skipped_steps == skipped);
    }
    REQUIRE(std::isfinite(loss) == !bad);
    if (!bad) worst = std::max(worst, std::abs(loss - expected[i]) / expected[i]);
  }
  CAPTURE(name, worst);
  CHECK(worst <= tolerance);
  CHECK(worst > 0);
}

}  // namespace

TEST_CASE("200 steps in mixed<bf16> follow PyTorch's autocast", "[train]") {
  using precision = dp::mixed<dp::bf16>;
  const batches_in_turn data;
  follow_autocast<mixed_net, precision>(data, "sgd/", dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.5}, 0.02,
                                        false);
  follow_autocast<mixed_net, precision>(data, "adam/", dp::optim::adam{.learning_rate = 0.002}, 0.02, false);
}

TEST_CASE("200 steps in mixed<half> follow PyTorch's autocast and scaler, and skip the same steps", "[train]") {
  using precision = dp::mixed<dp::half>;
  const batches_in_turn data;
  follow_autocast<mixed_net, precision>(data, "sgd/", dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.5}, 0.005,
                                        true);
  follow_autocast<mixed_net, precision>(data, "adam/", dp::optim::adam{.learning_rate = 0.002}, 0.005, true);
}

TEST_CASE("200 steps of a network of convolutions in 16 bits follow PyTorch's autocast", "[train]") {
  const batches_of<1, 10, 10> data{.folder = "images/"};
  const dp::optim::adam rule{.learning_rate = 0.002};
  follow_autocast<images_net, dp::mixed<dp::bf16>>(data, "", rule, 0.04, false);
  follow_autocast<images_net, dp::mixed<dp::half>>(data, "", rule, 0.02, false);
}

TEST_CASE("a loss scale decides as PyTorch's GradScaler", "[train]") {
  for (const std::string number : {"0", "1", "2"}) {
    const auto options = row_of("decisions/options" + number + ".npy");
    const auto steps = dp::read_npy<double, dp::extents<dp::dyn, 3>>(
        dp::test::reference_path("mixed_precision/decisions/steps" + number + ".npy"));
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

TEST_CASE("a skipped step leaves parameters and the optimizer's state and count as they are", "[train]") {
  // Training without the bad batches gives the same bits; learning rates change in every step, as by a schedule, and
  // the very first step is skipped.
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
        step(data.images(i, true), data.labels(i));
        const auto after = step.scaler();
        CHECK(after == dp::optim::loss_scaler_state{before.scale / 2, 0, before.skipped_steps + 1});
        step.set_scaler({before.scale, before.growth_tracker, after.skipped_steps});
      }
      step(data.images(i, false), data.labels(i));
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

/// A rule of a program's own, which does not know of the copy that layers read.
struct plain_descent {
  static constexpr std::size_t state_arenas = 0;
  void validate() const {}
  template <class Backend, class T>
  void step(const dp::optim::step_arguments<T>& a) const {
    for (std::size_t i = 0; i < a.n; ++i)
      a.parameters[i] -= a.gradients[i] / *a.divisor / 8;
  }
};

void require_rounded_parameters(const auto& rule) {
  dp::model<mixed_net, on_cpu, dp::mixed<dp::bf16>> model{dp::seed{1}};
  const batches_in_turn data;
  dp::trainer step{model, nn::cross_entropy{}, rule};
  for (std::size_t i = 0; i < 3; ++i) {
    step(data.images(i, false), data.labels(i));
    REQUIRE_FALSE(model.state().working_copies_are_old);
    const auto& r = model.state().replicas.front();
    for (std::size_t p = 0; p < dp::runtime::network_plan<mixed_net>::parameter_elements; ++p)
      REQUIRE(r.working_data()[p].bits() == dp::bf16(r.parameter_data()[p]).bits());
  }
}

}  // namespace

TEST_CASE("an update writes the parameters that layers read", "[train]") {
  require_rounded_parameters(dp::optim::adam{});
  require_rounded_parameters(plain_descent{});
}

TEST_CASE("layers read a frozen parameter that was changed before an update", "[train]") {
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

TEST_CASE("loss scaling refuses options out of range", "[train]") {
  using dp::optim::loss_scaling;
  CHECK_THROWS_AS(loss_scaling{.initial_scale = 0}.validate(), dp::argument_error);
  CHECK_THROWS_AS(loss_scaling{.initial_scale = 1e60}.validate(), dp::argument_error);
  CHECK_THROWS_AS(loss_scaling{.initial_scale = 1e-40}.validate(), dp::argument_error);
  CHECK_NOTHROW(loss_scaling{.initial_scale = std::numeric_limits<float>::min()}.validate());
  CHECK_THROWS_AS(loss_scaling{.growth_factor = 1}.validate(), dp::argument_error);
  CHECK_THROWS_AS(loss_scaling{.backoff_factor = 1}.validate(), dp::argument_error);
  CHECK_THROWS_AS(loss_scaling{.growth_interval = 0}.validate(), dp::argument_error);
  CHECK_NOTHROW(loss_scaling{}.validate());
}

TEST_CASE("the memory plan of a trainer in mixed<half> is what it allocates", "[train]") {
  using model_type = dp::model<mixed_net, on_cpu, dp::mixed<dp::half>>;
  using plan = dp::memory_plan<model_type, dp::batch<in_batch>, dp::optim::adam>;
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  const batches_in_turn data;
  const auto x = data.images(0, false);
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step.clip({.max_norm = 1});
  step(x, data.labels(0));
  CHECK(dp::memory_statistics<dp::cpu>().allocated - before == plan::bytes);
  STATIC_REQUIRE(2 * plan::working_copy == plan::parameters);
}
