// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>

#include "optim/optimizer_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::optim::adamw;
using dp::test::optimizer_case;

static_assert(dp::optim::optimizer_rule<adamw> && adamw::state_arenas == 2);

TEMPLATE_TEST_CASE("adamw makes the steps of torch.optim.AdamW", "[optim]", FLOATING_TYPES) {
  CHECK(dp::test::difference_to_pytorch<TestType>(adamw{.learning_rate = 0.01, .weight_decay = 0.05}, "adamw") <
        dp::test::pytorch_tolerance<TestType>);
}

TEMPLATE_TEST_CASE("adamw: exact properties", "[optim]", FLOATING_TYPES) {
  const adamw rule{.learning_rate = 0.01};
  CHECK(dp::test::thread_count_changes_nothing<TestType>(rule));
  CHECK(dp::test::divisor_of_zero_means_no_gradient<TestType>(rule));
  CHECK(dp::test::factors_scale_the_gradient<TestType>(rule));

  optimizer_case<TestType> decoupled(1000), plain(1000);
  decoupled.run(adamw{.weight_decay = 0}, 3);
  plain.run(dp::optim::adam{}, 3);
  CHECK(dp::test::same_bits(decoupled.parameters, plain.parameters));

  // Without gradients only the decay remains: 2^-1 * 2^-2 of the parameter in each step.
  optimizer_case<TestType> decaying(33), start(33);
  decaying.gradients.assign(33, 0);
  adamw{.learning_rate = 0.5, .weight_decay = 0.25}.step<dp::backend::cpu>(decaying.arguments(1));
  for (std::size_t i = 0; i < 33; ++i) REQUIRE(decaying.parameters[i] == start.parameters[i] * TestType{0.875});
}

TEST_CASE("adamw checks its hyperparameters", "[optim]") {
  CHECK(dp::test::validation_error(adamw{}).empty());
  CHECK_THAT(dp::test::validation_error(adamw{.weight_decay = -1}),
             ContainsSubstring("devplace: adamw: weight_decay is -1"));
}
