// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <devplace/place/availability.hpp>

#include "optim/device_case.hpp"

namespace dp = devplace;

TEMPLATE_TEST_CASE("optimizer steps on a simulated device equal the CPU's", "[optim]", FLOATING_TYPES) {
  using device = dp::backend::cuda;
  constexpr double tolerance = 0;  // the same code as on the CPU
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::sgd{.learning_rate = 0.1}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(
            dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::adam{.weight_decay = 0.1}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::adamw{}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::rmsprop{.weight_decay = 0.1, .momentum = 0.9}) <=
        tolerance);
}

TEMPLATE_TEST_CASE("a simulated device draws the CPU's initial values", "[nn]", FLOATING_TYPES) {
  using device = dp::backend::cuda;
  CHECK(dp::test::initial_values_differ_by<device, TestType>(dp::nn::init::fan_in_uniform(784)) == 0);
  CHECK(dp::test::initial_values_differ_by<device, TestType>(dp::nn::init::normal(0.5, 3)) == 0);
}
