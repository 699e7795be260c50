// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One program on one and on several simulated devices.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ratio>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;

struct run {
  std::vector<double> losses;
  std::vector<std::vector<double>> parameters;  ///< per replica
};

/// Ten steps on batches of several sizes, including fewer samples than places and none.
template <class Where, class T> run train(const nn::cross_entropy& loss) {
  dp::model<net, Where, T> model{dp::seed{9}};
  dp::trainer step{model, loss, dp::optim::adam{.learning_rate = 0.01}};
  run result;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 5, 13, 0, 33, 8}) {
    const auto x = distribute<Where>(dp::test::integer_samples<T, 6>(rows));
    const auto y = distribute<Where>(dp::test::square_labels(rows, 3));
    result.losses.push_back(static_cast<double>(step(x, y).item()));
  }
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) {
    const auto parameters = parameters_of(model, k);
    result.parameters.emplace_back(parameters.begin(), parameters.end());
  }
  return result;
}

void check_close(const run& a, const run& b, double tolerance) {
  REQUIRE(a.losses.size() == b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    INFO("step " << i);
    if (std::isnan(a.losses[i]))
      CHECK(std::isnan(b.losses[i]));
    else
      CHECK(a.losses[i] == Catch::Approx(b.losses[i]).epsilon(tolerance));
  }
  for (std::size_t i = 0; i < a.parameters[0].size(); ++i)
    CHECK(a.parameters[0][i] == Catch::Approx(b.parameters[0][i]).margin(tolerance));
}

const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.1, .class_weights = {1, 2, 0.5}};

}  // namespace

TEST_CASE("training on a simulated device is bitwise equal to the CPU", "[train]") {
  const auto cpu = train<dp::on<dp::cpu>, float>(weighted);
  const auto device = train<dp::on<dp::cuda<2>>, float>(weighted);
  CHECK(cpu.parameters == device.parameters);
}

TEST_CASE("replicas follow one device on the whole batch and stay bitwise equal", "[train]") {
  for (const auto& loss : {nn::cross_entropy{}, weighted}) {
    const auto one = train<dp::on<dp::cpu>, double>(loss);
    const auto three = train<dp::replicated<2, 0, 1>, double>(loss);
    check_close(one, three, 1e-9);
    CHECK(three.parameters[0] == three.parameters[1]);
    CHECK(three.parameters[0] == three.parameters[2]);
  }
}

TEST_CASE("single steps equal the trainer on replicas", "[train]") {
  using where = dp::replicated<0, 1>;
  dp::model<net, where> planned{dp::seed{2}}, by_hand{dp::seed{2}};
  dp::trainer step{planned, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
  dp::optimizer optimizer{by_hand, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
  for (const auto& sizes : {dp::split::sizes{5, 4}, dp::split::sizes{1, 8}, dp::split::sizes{9, 0}}) {
    const auto x = distribute<where>(dp::test::integer_samples<float, 6>(9), sizes);
    const auto y = distribute<where>(dp::test::square_labels(9, 3), sizes);
    step(x, y);
    auto [output, saved] = by_hand.forward(x);
    auto [loss, gradient] = nn::cross_entropy{}(output, y);
    optimizer.step(by_hand, dp::synchronize(by_hand.backward(std::move(saved), gradient)));
  }
  CHECK(parameters_of(planned, 0) == parameters_of(by_hand, 0));
  CHECK(parameters_of(planned, 1) == parameters_of(by_hand, 1));
}

TEST_CASE("outputs and targets with different splits are an error", "[train]") {
  using where = dp::replicated<0, 1>;
  dp::model<net, where> model{dp::seed{2}};
  const auto output = model.predict(distribute<where>(dp::test::integer_samples<float, 6>(9), dp::split::sizes{1, 8}));
  CHECK_THROWS_AS(nn::cross_entropy{}(output, distribute<where>(dp::test::square_labels(9, 3))), dp::shape_error);
  const auto y = distribute<where>(dp::test::square_labels(9, 3), output.split_sizes());
  CHECK(std::isfinite(nn::cross_entropy{}(output, y).loss.item()));
}

TEST_CASE("predictions of replicas are shards that gather returns in order", "[train]") {
  using where = dp::replicated<2, 0, 1>;
  const dp::model<net, where, double> replicas{dp::seed{2}};
  const dp::model<net, dp::on<dp::cpu>, double> one{dp::seed{2}};
  for (const std::size_t rows : std::vector<std::size_t>{0, 1, 2, 3, 4, 10}) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto expected = one.predict(x);
    for (const auto rule : {dp::split::even, dp::split::torch}) {
      const auto parts = replicas.predict(distribute<where>(x, rule));
      CHECK(parts.split_sizes().values == distribute<where>(x, rule).split_sizes().values);
      const auto gathered = dp::gather<dp::on<dp::cpu>>(parts);
      REQUIRE(gathered.extent(0) == rows);
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(gathered.data()[i] == Catch::Approx(expected.data()[i]).epsilon(1e-13));
    }
  }
}

TEST_CASE("the memory plan is exact on every place, and steps on devices allocate nothing", "[train]") {
  using where = dp::replicated<0, 1>;
  using model_type = dp::model<net, where>;
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(65));
  const auto y = distribute<where>(dp::test::square_labels(65, 3));
  const std::size_t first = dp::memory_statistics<dp::cuda<0>>().allocated;
  const std::size_t second = dp::memory_statistics<dp::cuda<1>>().allocated;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step(x, y);
  using plan = dp::memory_plan<model_type, dp::batch<65>, dp::optim::adam>;
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated - first == plan::bytes);
  using smaller = dp::memory_plan<model_type, dp::batch<64>, dp::optim::adam>;  // 33 and 32 rows
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated - second == smaller::bytes);
  {
    const dp::image_set images = support::numbered_images(130);
    const dp::loader<where> batches{images, {.batch = 65}};
    CHECK(dp::memory_statistics<dp::cuda<0>>().allocated - first == plan::bytes + plan::loader);
    CHECK(dp::memory_statistics<dp::cuda<1>>().allocated - second == smaller::bytes + smaller::loader);
  }
  const auto before = dp::memory_statistics<dp::cuda<0>>().allocations;
  for (int i = 0; i < 3; ++i) step(x, y);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocations == before);
}

TEST_CASE("a failure on a device stops all later work until the model is assigned anew", "[train]") {
  using where = dp::on<dp::cuda<2>>;
  dp::model<net, where> model{dp::seed{2}};
  dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(4));
  auto labels = dp::test::square_labels(4, 3);
  const auto good = distribute<where>(labels);
  labels(1) = 17;
  const auto bad = distribute<where>(labels);
  const auto before = parameters_of(model, 0);
  CHECK_THROWS_AS(step(x, bad).item(), dp::argument_error);  // or the step itself, if the device is fast
  CHECK_THROWS_WITH(step(x, good), Catch::Matchers::ContainsSubstring("this model cannot be used any more"));
  model = dp::model<net, where>{dp::seed{2}};
  CHECK(parameters_of(model, 0) == before);
  CHECK_THROWS_WITH(step(x, good), Catch::Matchers::ContainsSubstring("this model cannot be used any more"));
  dp::trainer another{model, dp::test::throwing_cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  CHECK(std::isfinite(another(x, good).item()));
  CHECK(parameters_of(model, 0) != before);
}

TEST_CASE("accuracy is the same on one place and on replicas", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(50);
  const auto y = dp::test::square_labels(50, 3);
  const dp::model<net, dp::on<dp::cpu>> one{dp::seed{2}};
  const dp::model<net, dp::replicated<0, 1>> two{dp::seed{2}};
  const dp::model<net, dp::replicated<2, 0, 1>> three{dp::seed{2}};
  auto on_cpu = dp::make_loader<dp::on<dp::cpu>>(x, y, {.batch = 16});
  auto on_two = dp::make_loader<dp::replicated<0, 1>>(x, y, {.batch = 16});
  const double expected = dp::accuracy(one, on_cpu.epoch(0));
  CHECK(dp::accuracy(two, on_two.epoch(0)) == expected);
  auto as_torch_splits =
      dp::make_loader<dp::replicated<2, 0, 1>>(x, y, {.batch = 16, .split = dp::split::torch});  // 6, 6, 4
  CHECK(dp::accuracy(three, as_torch_splits.epoch(0)) == expected);
  std::size_t right = 0;
  const auto logits = one.predict(x);
  for (std::size_t i = 0; i < 50; ++i) {
    const float* row = &logits(i, 0);
    right += std::max_element(row, row + 3) - row == y(i) ? 1U : 0U;
  }
  CHECK(expected == static_cast<double>(right) / 50);
}
