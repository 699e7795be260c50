// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/train/early_stopping.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using stopped_model = dp::model<nn::sequential<nn::linear<2, 3>, nn::batch_norm<3>>, dp::on<dp::cpu>>;

void set(stopped_model& model, float value) {
  model.for_each_parameter([&](const std::string&, auto to) {
    for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = value;
  });
  model.state().replicas[0].buffer_data()[1] = -value;
}
bool has(const stopped_model& model, float value) {
  return model.parameter<1>()(2) == value && model.state().replicas[0].buffer_data()[1] == -value;
}

/// Reports these metrics until training stops; model i has the parameter i. Returns the number of reported metrics.
std::size_t report(dp::early_stopping<stopped_model>& stopping, stopped_model& model,
                   const std::vector<double>& metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    set(model, static_cast<float>(stopping.state().metrics));
    const bool stops = stopping(metrics[i], model);
    CHECK(stops == stopping.stopped());
    if (stops) return i + 1;
  }
  return metrics.size();
}

}  // namespace

TEST_CASE("training stops after `patience` metrics without improvement", "[train]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  stopped_model model{dp::seed{1}};
  SECTION("smaller is better") {
    dp::early_stopping stopping{model, {.patience = 2}};
    CHECK(report(stopping, model, {3, 2, 2.5, 1, 1, 1.5, 0}) == 6);
    CHECK(stopping.state() == dp::early_stopping_state{1, 3, 6});
    CHECK(has(stopping.best(), 3));
    CHECK(has(model, 5));
    stopping.restore(model);
    CHECK(has(model, 3));
  }
  SECTION("larger is better, by more than a minimum difference") {
    dp::early_stopping stopping{model, {.patience = 3, .min_delta = 0.5, .maximize = true}};
    CHECK(report(stopping, model, {-1, -0.5, 0, 0.5, 0.25, 0.375, 9}) == 6);
    CHECK(stopping.state() == dp::early_stopping_state{0, 2, 6});
  }
  SECTION("a small improvement counts from the best metric, not from the last") {
    dp::early_stopping stopping{model, {.patience = 2, .min_delta = 0.5}};
    CHECK(report(stopping, model, {4, 3.75, 3.25, 3, 2.875, 9, 9}) == 5);
    CHECK(stopping.state().best == 3.25);
  }
  SECTION("NaN is no improvement, and any number improves on NaN") {
    dp::early_stopping stopping{model, {.patience = 3}};
    CHECK(report(stopping, model, {nan, nan, infinity, nan, nan, nan, 1}) == 6);
    CHECK(has(stopping.best(), 2));
    dp::early_stopping never{model, {.patience = 1}};
    CHECK(report(never, model, {nan, 1}) == 1);
  }
}

TEST_CASE("docs/training.md: early stopping", "[train]") {
  stopped_model model{dp::seed{1}};
  const std::vector<double> losses{3, 2, 2.5, 2.25, 1};
  int epoch = 0;
  const auto train_an_epoch = [&] { set(model, static_cast<float>(epoch)); };

  dp::early_stopping stopping{model, {.patience = 2, .min_delta = 1e-3}};
  for (; epoch < 5; ++epoch) {
    train_an_epoch();
    if (stopping(losses[static_cast<std::size_t>(epoch)], model)) break;
  }
  stopping.restore(model);

  CHECK(epoch == 3);
  CHECK(has(model, 1));
}

TEST_CASE("early stopping continues with a saved state", "[train]") {
  stopped_model model{dp::seed{1}};
  const dp::early_stopping_options options{.patience = 2};
  dp::early_stopping stopping{model, options}, resumed{model, options};
  CHECK(report(stopping, model, {3, 4}) == 2);
  resumed.assign(stopping.best(), stopping.state());
  CHECK(report(resumed, model, {5, 1}) == 1);
  CHECK(has(resumed.best(), 0));
}

TEST_CASE("early stopping rejects a patience of 0 and a negative difference", "[train]") {
  const stopped_model model{dp::seed{1}};
  CHECK_THROWS_WITH((dp::early_stopping{model, {.patience = 0}}),
                    Catch::Matchers::ContainsSubstring("early_stopping: patience is 0;"));
  CHECK_THROWS_WITH((dp::early_stopping{model, {.min_delta = -1}}),
                    Catch::Matchers::ContainsSubstring("early_stopping: min_delta is -1.0"));
}
