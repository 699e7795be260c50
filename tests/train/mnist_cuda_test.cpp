// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same program trains the reference model, 784-256-10, on images on the CPU and on a GPU: losses agree over
// hundreds of steps.

#include <cstddef>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/image_training.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;

namespace {

/// A different order of summation rounds differently; over 200 steps at this learning rate the difference grows to
/// about 1e-5.
constexpr double tolerance = 1e-3;

void check_that_gpu_follows_cpu(const dp::image_set& images, std::size_t steps, std::size_t batch) {
  const auto on_cpu = dp::test::image_losses<dp::on<dp::cpu>>(images, steps, batch);
  const auto on_gpu = dp::test::image_losses<dp::on<dp::cuda<0>>>(images, steps, batch);
  REQUIRE(on_cpu.size() == steps);
  CHECK(dp::test::largest_difference(on_gpu, on_cpu) < tolerance);
  CHECK(on_gpu == dp::test::image_losses<dp::on<dp::cuda<0>>>(images, steps, batch));  // bitwise
  CHECK(on_cpu.back() < 0.8 * on_cpu.front());
}

}  // namespace

TEST_CASE("a GPU follows the CPU on images of ten classes", "[train]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  check_that_gpu_follows_cpu(dp::test::bars(120), 12, 10);
}

TEST_CASE("a GPU follows the CPU on MNIST", "[train]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const auto images = dp::test::mnist_training_set();
  if (!images) DEVPLACE_SKIP("set DEVPLACE_TEST_MNIST to a folder with the four MNIST files");
  if constexpr (support::on_software_gpu)
    check_that_gpu_follows_cpu(*images, 24, 16);
  else
    check_that_gpu_follows_cpu(*images, 200, 64);
}
