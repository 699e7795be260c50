// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/ops/parallel_for.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// An element's step of Lion (Chen et al. 2023): of fixed length, along the sign of gradient and momentum.
template <class T> struct lion_element {
  dp::optim::step_arguments<T> a;
  T rate, beta1, beta2;

  DEVPLACE_HD void operator()(std::size_t i) const {
    if ((a.skip != nullptr && *a.skip != 0) || (a.weights != nullptr && *a.weights != *a.weights)) return;
    const T divisor = a.divisor == nullptr ? T{1} : *a.divisor;
    const T factor = a.gradient_factor == nullptr ? T{1} : *a.gradient_factor;
    const T gradient = divisor == 0 ? T{0} : factor * a.gradients[i] / divisor;
    T& momentum = a.state[0][i];
    const T direction = beta1 * momentum + (1 - beta1) * gradient;
    a.parameters[i] -= direction > 0 ? rate : direction < 0 ? -rate : T{0};
    momentum = beta2 * momentum + (1 - beta2) * gradient;
  }
};

struct lion {
  double learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.99;
  static constexpr std::size_t state_arenas = 1;  // a.state[0], zero before the first step
  static constexpr bool skips_steps = true;       // by a.skip, for mixed<half>
  static constexpr const char* name = "lion";
  static void for_each_option(auto& self, auto&& f) {
    f("learning_rate", self.learning_rate, dp::optim::not_negative);
    f("beta1", self.beta1, dp::optim::decay_rate);
    f("beta2", self.beta2, dp::optim::decay_rate);
  }

  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    const dp::dextents<1> size{a.n};
    const dp::view<T, dp::dextents<1>, dp::here<Backend>> device(a.parameters, size, a.ordinal);
    const lion_element<T> update{a, static_cast<T>(learning_rate), static_cast<T>(beta1), static_cast<T>(beta2)};
    dp::parallel_for(device, size, update);
  }
};
static_assert(dp::optim::optimizer_rule<lion>);

using network = nn::linear<3, 4>;
using samples = dp::tensor<double, dp::extents<dp::dyn, 3>, dp::cpu>;
using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu>;

std::vector<double> weights_of(const dp::model<network, dp::cpu, double>& model) {
  const auto weight = model.parameter<0>();
  const auto bias = model.parameter<1>();
  std::vector<double> result(weight.begin(), weight.end());
  result.insert(result.end(), bias.begin(), bias.end());
  return result;
}

/// The parameters after some steps of Lion on the whole batch, by loops.
std::vector<double> by_loops(std::vector<double> w, const samples& x, const labels& y, const lion& rule, int steps) {
  std::vector<double> momentum(w.size());
  for (int step = 0; step < steps; ++step) {
    std::vector<double> gradient(w.size());
    for (std::size_t n = 0; n < x.extent(0); ++n) {
      double p[4], sum = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        p[j] = std::exp(w[12 + j] + w[3 * j] * x(n, 0) + w[3 * j + 1] * x(n, 1) + w[3 * j + 2] * x(n, 2));
        sum += p[j];
      }
      for (std::size_t j = 0; j < 4; ++j) {
        const double d =
            (p[j] / sum - (y(n) == static_cast<std::int64_t>(j) ? 1 : 0)) / static_cast<double>(x.extent(0));
        for (std::size_t i = 0; i < 3; ++i) gradient[3 * j + i] += d * x(n, i);
        gradient[12 + j] += d;
      }
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double direction = rule.beta1 * momentum[i] + (1 - rule.beta1) * gradient[i];
      w[i] -= rule.learning_rate * (direction > 0 ? 1 : direction < 0 ? -1 : 0);
      momentum[i] = rule.beta2 * momentum[i] + (1 - rule.beta2) * gradient[i];
    }
  }
  return w;
}

/// The parameters after those steps of a trainer on a placement.
template <class Where>
std::vector<double> by_a_trainer(const samples& x, const labels& y, const lion& rule, int steps) {
  dp::model<network, Where, double> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, rule};
  const auto images = dp::to_batch<Where>(x);
  const auto classes = dp::to_batch<Where>(y);
  for (int i = 0; i < steps; ++i) step(images, classes);
  return weights_of(dp::to<dp::cpu>(model));
}

}  // namespace

TEST_CASE("a user's rule made of public functions trains on every place", "[optim]") {
  samples x(dp::extents<dp::dyn, 3>{7});
  labels y(dp::extents<dp::dyn>{7});
  for (std::size_t n = 0; n < 7; ++n) {
    y(n) = static_cast<std::int64_t>(n * n % 4);
    for (std::size_t i = 0; i < 3; ++i) x(n, i) = std::sin(static_cast<double>(3 * n + i));
  }
  const lion rule{.learning_rate = 0.01};
  const std::vector<double> start = weights_of(dp::model<network, dp::cpu, double>{dp::seed{1}});
  const std::vector<double> expected = by_loops(start, x, y, rule, 9);
  const auto check = [&](const std::vector<double>& found) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-12);
  };
  check(by_a_trainer<dp::cpu>(x, y, rule, 9));
  check(by_a_trainer<dp::cuda<1>>(x, y, rule, 9));
  check(by_a_trainer<dp::replicated<0, 1>>(x, y, rule, 9));
}

TEST_CASE("a user's rule skips a batch with a label that is no class", "[optim]") {
  dp::model<network, dp::cpu, double> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, lion{}};
  const samples x(dp::extents<dp::dyn, 3>{2});
  labels y(dp::extents<dp::dyn>{2});
  y(0) = 0, y(1) = 9;
  const std::vector<double> before = weights_of(model);
  const auto loss = step(x, y);
  CHECK_THROWS_AS(loss.item(), dp::argument_error);
  CHECK(weights_of(model) == before);
  y(1) = 1;
  step(x, y);
  for (const double weight : weights_of(model)) CHECK(std::isfinite(weight));
}
