// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same program trains the reference model, 784-256-10, on images on one and on several devices: losses agree over
// hundreds of steps.

#include <cstddef>

#include "support/catch.hpp"
#include "support/image_training.hpp"

namespace dp = devplace;

namespace {

void check_that_replicas_follow_one_device(const dp::image_set& images, std::size_t steps, std::size_t batch) {
  using dp::test::image_losses, dp::test::largest_difference;
  const auto one = image_losses<dp::on<dp::cuda<0>>>(images, steps, batch);
  REQUIRE(one.size() == steps);
  CHECK(largest_difference(image_losses<dp::replicated<0>>(images, steps, batch), one) < 1e-5);
  CHECK(largest_difference(image_losses<dp::replicated<0, 1>>(images, steps, batch), one) < 1e-5);
  CHECK(largest_difference(image_losses<dp::replicated<2, 0, 1>>(images, steps, batch), one) < 1e-5);
  CHECK(largest_difference(image_losses<dp::replicated<0, 1, 2, 3>>(images, steps, batch), one) < 1e-5);
  // The model has learned: the loss has fallen by a fifth.
  CHECK(one.back() < 0.8 * one.front());
}

}  // namespace

TEST_CASE("replicas follow one device on images of ten classes", "[train]") {
  check_that_replicas_follow_one_device(dp::test::bars(120), 12, 10);
}

TEST_CASE("replicas follow one device over 200 steps on MNIST", "[train]") {
  const auto images = dp::test::mnist_training_set();
  if (!images) DEVPLACE_SKIP("set DEVPLACE_TEST_MNIST to a folder with the four MNIST files");
  check_that_replicas_follow_one_device(*images, 200, 64);
}
