// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/sgd.hpp>

#include "optim/optimizer_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::optim::plain_sgd;
using dp::optim::sgd;
using dp::test::optimizer_case;
using dp::test::validation_error;

static_assert(dp::optim::optimizer_rule<sgd> && sgd::state_arenas == 1);
static_assert(dp::optim::optimizer_rule<plain_sgd> && plain_sgd::state_arenas == 0);

TEMPLATE_TEST_CASE("sgd makes the steps of torch.optim.SGD", "[optim]", FLOATING_TYPES) {
  const double tolerance = dp::test::pytorch_tolerance<TestType>;
  const auto difference = [](const sgd& rule, const char* name) {
    return dp::test::difference_to_pytorch<TestType>(rule, name);
  };
  CHECK(difference({.learning_rate = 0.1}, "sgd") < tolerance);
  CHECK(difference({.learning_rate = 0.1, .momentum = 0.9}, "sgd_momentum") < tolerance);
  CHECK(difference({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.1}, "sgd_momentum_dampening") < tolerance);
  CHECK(difference({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}, "sgd_nesterov") < tolerance);
  CHECK(difference({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01}, "sgd_momentum_weight_decay") <
        tolerance);
}

TEMPLATE_TEST_CASE("a step of sgd by hand", "[optim]", FLOATING_TYPES) {
  optimizer_case<TestType> c(1);
  c.parameters = {2};
  c.gradients = {8};
  c.divisor = 2;
  const sgd rule{.learning_rate = 0.25, .momentum = 0.5, .weight_decay = 0.5};
  rule.step<dp::backend::cpu>(c.arguments(1));  // gradient 8 / 2 + 0.5 * 2 = 5 = momentum
  CHECK(c.first_state[0] == 5);
  CHECK(c.parameters[0] == TestType{0.75});
  c.gradients = {1};
  rule.step<dp::backend::cpu>(c.arguments(2));  // gradient 0.5 + 0.375, momentum 2.5 + 0.875
  CHECK(c.first_state[0] == TestType{3.375});
  CHECK(c.parameters[0] == TestType{-0.09375});
}

// torch.optim.SGD creates the momentum buffer in the first step with momentum, and keeps it.
TEMPLATE_TEST_CASE("momentum switched on later starts from the gradient, as in PyTorch", "[optim]", FLOATING_TYPES) {
  constexpr std::size_t n = 50;
  optimizer_case<TestType> c(n);
  std::vector<double> parameters(c.parameters.begin(), c.parameters.end()), buffer;
  for (std::int64_t step = 1; step <= 9; ++step) {
    sgd rule{.learning_rate = 0.1, .dampening = 0.5, .weight_decay = 0.01};
    if ((step > 2 && step < 5) || step > 6) rule.momentum = 0.9;
    rule.template step<dp::backend::cpu>(c.arguments(step));
    std::vector<double> direction(n);
    for (std::size_t i = 0; i != n; ++i)
      direction[i] = static_cast<double>(c.gradients[i]) + rule.weight_decay * parameters[i];
    if (rule.momentum != 0) {
      for (std::size_t i = 0; i != buffer.size(); ++i)
        buffer[i] = rule.momentum * buffer[i] + (1 - rule.dampening) * direction[i];
      if (buffer.empty()) buffer = direction;
      direction = buffer;
    }
    double worst = 0;
    for (std::size_t i = 0; i != n; ++i) {
      parameters[i] -= rule.learning_rate * direction[i];
      worst = std::max(worst, std::abs(static_cast<double>(c.parameters[i]) - parameters[i]));
      c.gradients[i] = TestType{0.5} - c.gradients[i] * TestType{0.75};
    }
    INFO("step " << step);
    CHECK(worst < dp::test::pytorch_tolerance<TestType>);
  }
}

TEMPLATE_TEST_CASE("sgd: exact properties", "[optim]", FLOATING_TYPES) {
  const sgd plain{.learning_rate = 0.1, .weight_decay = 0.01};
  const sgd nesterov{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true};
  for (const sgd& rule : {plain, nesterov}) {
    CHECK(dp::test::thread_count_changes_nothing<TestType>(rule));
    CHECK(dp::test::divisor_of_zero_means_no_gradient<TestType>(rule));
    CHECK(dp::test::factors_scale_the_gradient<TestType>(rule));
  }

  optimizer_case<TestType> stepped(1000), untouched(1000);
  stepped.run(sgd{.learning_rate = 0, .momentum = 0.9}, 2);
  CHECK(dp::test::same_bits(stepped.parameters, untouched.parameters));

  optimizer_case<TestType> without_momentum(1000);
  without_momentum.first_state.assign(1000, 7);
  without_momentum.run(plain, 1);
  CHECK(without_momentum.first_state == std::vector<TestType>(1000, 7));
}

TEST_CASE("sgd checks its hyperparameters", "[optim]") {
  CHECK(validation_error(sgd{}).empty());
  CHECK(validation_error(sgd{.momentum = 0.9, .nesterov = true}).empty());
  CHECK_THAT(validation_error(sgd{.learning_rate = -1}), ContainsSubstring("devplace: sgd: learning_rate is -1"));
  CHECK_THAT(validation_error(sgd{.momentum = -0.5}), ContainsSubstring("momentum"));
  CHECK_THAT(validation_error(sgd{.dampening = -0.5}), ContainsSubstring("dampening"));
  CHECK_THAT(validation_error(sgd{.weight_decay = std::nan("")}), ContainsSubstring("weight_decay"));
  CHECK_THAT(validation_error(sgd{.nesterov = true}), ContainsSubstring("nesterov needs a momentum"));
  CHECK_THAT(validation_error(sgd{.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
             ContainsSubstring("dampening of 0"));
}

TEMPLATE_TEST_CASE("plain_sgd makes sgd's steps without momentum, and has no state", "[optim]", FLOATING_TYPES) {
  optimizer_case<TestType> plain(1000), by_sgd(1000), untouched(1000);
  plain.run(plain_sgd{.learning_rate = 0.1, .weight_decay = 0.01}, 3);
  by_sgd.run(sgd{.learning_rate = 0.1, .weight_decay = 0.01}, 3);
  CHECK(dp::test::same_bits(plain.parameters, by_sgd.parameters));
  CHECK_FALSE(dp::test::same_bits(plain.parameters, untouched.parameters));
  CHECK(dp::test::same_bits(plain.first_state, untouched.first_state));
  CHECK(plain.step_memory == by_sgd.step_memory);
  CHECK(plain.sent == by_sgd.sent);
  CHECK(dp::test::difference_to_pytorch<TestType>(plain_sgd{.learning_rate = 0.1}, "sgd") <
        dp::test::pytorch_tolerance<TestType>);
  CHECK(validation_error(plain_sgd{}).empty());
  CHECK_THAT(validation_error(plain_sgd{.learning_rate = -1}),
             ContainsSubstring("devplace: plain_sgd: learning_rate is -1"));
}
