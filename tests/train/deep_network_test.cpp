// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/deep_network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/nn/mse.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

// Seven sizes, because each distinct layer takes a tenth of a second to compile.
constexpr std::size_t layers = 100, linears = layers / 2, samples = 3, sizes = 7;
constexpr std::size_t inputs = dp::test::deep_width(0, sizes), outputs = dp::test::deep_width(linears, sizes);
using model_type = dp::model<dp::test::deep_network<layers, sizes>, dp::on<dp::cpu>, double>;
using values = std::vector<double>;

/// The weight and the bias of each linear layer, alternately.
std::vector<values> parameters_of(const model_type& model) {
  std::vector<values> all;
  model.for_each_parameter(
      [&](const std::string&, auto view) { all.emplace_back(view.data(), view.data() + view.size()); });
  return all;
}

/// One step of gradient descent on the sum of squared differences from 0, in plain loops.
void step_in_plain_loops(std::vector<values>& parameters, const double* input, double learning_rate) {
  std::vector<values> gradients = parameters;
  for (values& g : gradients) g.assign(g.size(), 0.0);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    std::vector<values> x(linears + 1);
    x[0].assign(input + sample * inputs, input + (sample + 1) * inputs);
    for (std::size_t l = 0; l < linears; ++l) {
      const std::size_t in = x[l].size();
      x[l + 1] = parameters[2 * l + 1];
      for (std::size_t i = 0; i < x[l + 1].size(); ++i) {
        for (std::size_t j = 0; j < in; ++j) x[l + 1][i] += parameters[2 * l][i * in + j] * x[l][j];
        x[l + 1][i] = std::tanh(x[l + 1][i]);
      }
    }
    values above = x[linears];
    for (double& value : above) value *= 2;
    for (std::size_t l = linears; l-- > 0;) {
      const std::size_t in = x[l].size();
      values below(in, 0.0);
      for (std::size_t i = 0; i < above.size(); ++i) {
        const double g = above[i] * (1 - x[l + 1][i] * x[l + 1][i]);
        gradients[2 * l + 1][i] += g;
        for (std::size_t j = 0; j < in; ++j) {
          gradients[2 * l][i * in + j] += g * x[l][j];
          below[j] += g * parameters[2 * l][i * in + j];
        }
      }
      above = below;
    }
  }
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t i = 0; i < parameters[p].size(); ++i) parameters[p][i] -= learning_rate * gradients[p][i];
}

}  // namespace

TEST_CASE("a trainer of 100 layers steps as plain loops do", "[train]") {
  model_type model{dp::seed{1}};
  // With the default initialisation every layer shrinks its input by about sqrt(3), so the first layers would hardly
  // change.
  model.for_each_parameter([](const std::string& name, auto view) {
    for (std::size_t i = 0; i < view.size() && name.find("weight") != std::string::npos; ++i) view.data()[i] *= 2;
  });
  std::vector<values> expected = parameters_of(model);
  const std::vector<values> before = expected;
  const auto x = dp::test::integer_samples<double, inputs>(samples);
  const auto y = dp::zeros<double, dp::on<dp::cpu>>(dp::extents<dp::dyn, outputs>{samples});
  dp::trainer step{model, nn::mse{.reduce = dp::reduction::sum}, dp::optim::sgd{.learning_rate = 0.01}};
  step(x, y);
  step_in_plain_loops(expected, x.data(), 0.01);
  const std::vector<values> after = parameters_of(model);
  REQUIRE(after.size() == layers);
  for (std::size_t p = 0; p < layers; ++p) {
    double moved = 0, error = 0;
    for (std::size_t i = 0; i < after[p].size(); ++i) {
      moved = std::max(moved, std::abs(expected[p][i] - before[p][i]));
      error = std::max(error, std::abs(expected[p][i] - after[p][i]));
    }
    INFO("parameter " << p);
    CHECK(moved > 1e-5);
    CHECK(error <= 1e-9 * moved);
  }
}
