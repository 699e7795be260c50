// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <devplace/optim/rmsprop.hpp>

#include "optim/optimizer_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::optim::rmsprop;
using dp::test::optimizer_case;
using dp::test::validation_error;

static_assert(dp::optim::optimizer_rule<rmsprop> && rmsprop::state_arenas == 2);
static_assert(sizeof(rmsprop) == 5 * sizeof(double), "checkpoints have its bytes, and those of padding are arbitrary");

namespace {

/// One parameter after each of four steps.
template <class T> std::vector<double> four_steps(const rmsprop& rule) {
  optimizer_case<T> c(1);
  c.parameters = {1};
  c.first_state = c.second_state = {0};
  c.divisor = 2;
  std::vector<double> parameters;
  for (const double gradient : {0.5, -0.25, 1.0, 0.125}) {
    c.gradients = {static_cast<T>(2 * gradient)};
    rule.step<dp::backend::cpu>(c.arguments(static_cast<std::int64_t>(parameters.size()) + 1));
    parameters.push_back(static_cast<double>(c.parameters[0]));
  }
  return parameters;
}

}  // namespace

// The expected values were computed in double with torch.optim.RMSprop's formula, independently of this program.
TEMPLATE_TEST_CASE("rmsprop makes the steps of its formula", "[optim]", FLOATING_TYPES) {
  const double tolerance = sizeof(TestType) == sizeof(float) ? 1e-6 : 1e-15;
  const auto check = [&](const rmsprop& rule, const std::vector<double>& expected) {
    const std::vector<double> parameters = four_steps<TestType>(rule);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(parameters[i] - expected[i]) <= tolerance);
  };
  check({}, {0.900000019999996, 0.9449013374421751, 0.8574273783928595, 0.8465038103038437});
  check({.learning_rate = 0.05, .alpha = 0.9, .epsilon = 1e-3, .weight_decay = 0.1, .momentum = 0.9},
        {0.8427150812993949, 0.7451244732680409, 0.5175726250663001, 0.28883225180359684});
}

TEMPLATE_TEST_CASE("rmsprop: exact properties", "[optim]", FLOATING_TYPES) {
  for (const rmsprop& rule : {rmsprop{.weight_decay = 0.01}, rmsprop{.momentum = 0.9}}) {
    CHECK(dp::test::thread_count_changes_nothing<TestType>(rule));
    CHECK(dp::test::divisor_of_zero_means_no_gradient<TestType>(rule));
    CHECK(dp::test::factors_scale_the_gradient<TestType>(rule));
  }
  optimizer_case<TestType> without_momentum(1000);
  without_momentum.first_state.assign(1000, 0);
  without_momentum.second_state.assign(1000, 7);
  without_momentum.run(rmsprop{}, 2);
  CHECK(without_momentum.second_state == std::vector<TestType>(1000, 7));
}

TEST_CASE("rmsprop names an invalid hyperparameter", "[optim]") {
  CHECK_THAT(validation_error(rmsprop{.learning_rate = -1}), ContainsSubstring("rmsprop: learning_rate is -1"));
  CHECK_THAT(validation_error(rmsprop{.alpha = 1}), ContainsSubstring("rmsprop: alpha is 1"));
  CHECK_THAT(validation_error(rmsprop{.momentum = -0.5}), ContainsSubstring("rmsprop: momentum is -0.5"));
}
