// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"

#include "optim/device_case.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

TEMPLATE_TEST_CASE("optimizer steps on a GPU equal the CPU's", "[optim]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using device = dp::backend::cuda;
  const double tolerance = sizeof(TestType) == sizeof(float) ? 1e-6 : 1e-14;
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::sgd{.learning_rate = 0.1}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(
            dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::adam{.weight_decay = 0.1}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::adamw{}) <= tolerance);
  CHECK(dp::test::steps_differ_by<device, TestType>(dp::optim::rmsprop{.weight_decay = 0.1, .momentum = 0.9}) <=
        tolerance);
}

TEMPLATE_TEST_CASE("a GPU draws the CPU's initial values", "[nn]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using device = dp::backend::cuda;
  CHECK(dp::test::initial_values_differ_by<device, TestType>(dp::nn::init::fan_in_uniform(784)) == 0);
  CHECK(dp::test::initial_values_differ_by<device, TestType>(dp::nn::init::normal(0.5, 3)) == 0);
}
