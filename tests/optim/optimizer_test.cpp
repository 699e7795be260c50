// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A user-defined rule: parameters move by a fixed distance against the gradient's sign.
template <class T> struct sign_functor {
  T* parameters;
  const T* gradients;
  T length;
  DEVPLACE_HD void operator()(std::size_t i) const {
    parameters[i] -= gradients[i] > 0 ? length : gradients[i] < 0 ? -length : T{0};
  }
};

struct sign_descent {
  double length = 0.5;
  static constexpr std::size_t state_arenas = 0;
  static constexpr const char* name = "sign_descent";
  static void for_each_option(auto& self, auto&& f) { f("length", self.length, dp::optim::positive); }
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    dp::detail::for_each_index<Backend>(a.ordinal, a.n, 1024,
                                        sign_functor<T>{a.parameters, a.gradients, static_cast<T>(length)});
  }
};
static_assert(dp::optim::optimizer_rule<sign_descent>);
static_assert(!dp::optim::optimizer_rule<double>);

/// A user-defined schedule: a rule with hyperparameters that depend on the step.
struct slowing_sgd : dp::optim::sgd {
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    dp::optim::sgd now = *this;
    now.learning_rate /= static_cast<double>(a.step);
    now.step<Backend>(a);
  }
};
static_assert(dp::optim::optimizer_rule<slowing_sgd>);

using cpu_model = dp::model<nn::linear<6, 3>, dp::on<dp::cpu>, double>;

auto gradients_of(cpu_model& model, std::size_t rows, const nn::cross_entropy& loss) {
  const auto x = dp::test::integer_samples<double, 6>(rows);
  const auto y = dp::test::square_labels(rows, 3);
  auto [output, saved] = model.forward(x);
  const auto result = loss(output, y);
  return model.backward(std::move(saved), result.gradient);
}

std::vector<double> weights_of(const cpu_model& model) {
  return {model.parameter<0>().data(), model.parameter<0>().data() + 18};
}

}  // namespace

TEST_CASE("an optimizer divides gradients of a mean, but not of a sum, by the sum of weights", "[optim]") {
  cpu_model model{dp::seed{1}};
  const std::vector<double> before(model.parameter<0>().data(), model.parameter<0>().data() + 18);
  auto lease = gradients_of(model, 5, nn::cross_entropy{});
  const std::vector<double> sums(lease.local<0>().data(), lease.local<0>().data() + 18);
  dp::optimizer optimizer{model, dp::optim::sgd{.learning_rate = 1}};
  optimizer.step(model, std::move(lease));
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(model.parameter<0>().data()[i] == Catch::Approx(before[i] - sums[i] / 5).margin(1e-15));

  cpu_model other{dp::seed{1}};
  dp::optimizer of_sum{other, dp::optim::sgd{.learning_rate = 1}};
  of_sum.step(other, gradients_of(other, 5, nn::cross_entropy{.reduce = dp::reduction::sum}));
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(other.parameter<0>().data()[i] == Catch::Approx(before[i] - sums[i]).margin(1e-15));
}

TEST_CASE("an optimizer accepts a user's rule", "[optim]") {
  cpu_model model{dp::seed{1}};
  const std::vector<double> before(model.parameter<0>().data(), model.parameter<0>().data() + 18);
  dp::optimizer optimizer{model, sign_descent{}};
  optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{}));
  for (std::size_t i = 0; i < 18; ++i) {
    const double moved = std::abs(model.parameter<0>().data()[i] - before[i]);
    CHECK((moved == 0 || moved == Catch::Approx(0.5)));
  }
  CHECK(optimizer.steps() == 1);
  optimizer.rule().length = 0;
  CHECK_THROWS_WITH(optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{})),
                    ContainsSubstring("sign_descent: length is 0.0; it must be a finite number above 0."));
}

TEST_CASE("a changed learning rate applies from the next step", "[optim]") {
  cpu_model model{dp::seed{1}};
  dp::optimizer optimizer{model, dp::optim::sgd{.learning_rate = 1}};
  optimizer.rule().learning_rate = 0;
  const std::vector<double> before = weights_of(model);
  optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{}));
  CHECK(weights_of(model) == before);
  optimizer.rule().learning_rate = 1;
  optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{}));
  const std::vector<double> moved = weights_of(model);
  CHECK(moved != before);
  optimizer.rule().learning_rate = 0;
  optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{}));
  CHECK(weights_of(model) == moved);
}

TEST_CASE("a rule that delegates to another may change its hyperparameters between steps", "[optim]") {
  cpu_model model{dp::seed{1}}, by_hand{dp::seed{1}};
  const slowing_sgd rule{{.learning_rate = 0.5, .momentum = 0.9}};
  dp::optimizer slowing{model, rule};
  dp::optimizer plain{by_hand, static_cast<const dp::optim::sgd&>(rule)};
  for (int step = 1; step <= 3; ++step) {
    plain.rule().learning_rate = 0.5 / step;
    slowing.step(model, gradients_of(model, 5, nn::cross_entropy{}));
    plain.step(by_hand, gradients_of(by_hand, 5, nn::cross_entropy{}));
    CHECK(weights_of(model) == weights_of(by_hand));
  }
}

TEST_CASE("gradients of another model are rejected", "[optim]") {
  cpu_model model{dp::seed{1}}, other{dp::seed{1}};
  dp::optimizer optimizer{other, dp::optim::sgd{}};
  CHECK_THROWS_WITH(optimizer.step(other, gradients_of(model, 5, nn::cross_entropy{})),
                    ContainsSubstring("belong to another model"));
  CHECK_THROWS_WITH(optimizer.step(model, gradients_of(model, 5, nn::cross_entropy{})),
                    ContainsSubstring("made for another model"));
  // Also if a model has a destroyed model's address.
  std::optional<cpu_model> first{std::in_place, dp::seed{1}};
  dp::optimizer of_first{*first, dp::optim::sgd{}};
  first.reset();
  first.emplace(dp::seed{2});
  CHECK_THROWS_WITH(of_first.step(*first, gradients_of(*first, 5, nn::cross_entropy{})),
                    ContainsSubstring("made for another model"));
  CHECK_THROWS_AS((dp::optimizer{model, dp::optim::sgd{.learning_rate = -1}}), dp::argument_error);
  optimizer.rule().learning_rate = -1;
  CHECK_THROWS_AS(optimizer.step(other, gradients_of(other, 5, nn::cross_entropy{})), dp::argument_error);
}
