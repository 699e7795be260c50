// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference model, 784-256-10, trained from images by one program text on one device and on several: the losses
// stay together over hundreds of steps.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

/// Losses of the first steps.
template <class Where>
std::vector<double> losses(const dp::image_set& images, std::size_t steps, std::size_t batch) {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.5}};
  dp::loader<Where> batches{images, {.batch = batch, .shuffle = dp::seed{2}}};
  std::vector<double> result;
  for (int epoch = 0; result.size() < steps; ++epoch)
    for (const auto& [x, y] : batches.epoch(epoch)) {
      result.push_back(static_cast<double>(step(x, y).item()));
      if (result.size() == steps) break;
    }
  dp::check_replicas(model);
  return result;
}

void check_that_replicas_follow_one_device(const dp::image_set& images, std::size_t steps, std::size_t batch) {
  const auto one = losses<dp::on<dp::cuda<0>>>(images, steps, batch);
  REQUIRE(one.size() == steps);
  const auto check = [&](const std::vector<double>& several) {
    double worst = 0;
    for (std::size_t i = 0; i < steps; ++i)
      worst = std::max(worst, std::abs(several[i] - one[i]) / one[i]);
    CHECK(worst < 1e-5);
  };
  check(losses<dp::replicated<0>>(images, steps, batch));
  check(losses<dp::replicated<0, 1>>(images, steps, batch));
  check(losses<dp::replicated<2, 0, 1>>(images, steps, batch));
  check(losses<dp::replicated<0, 1, 2, 3>>(images, steps, batch));
  // It has learned something: these are no longer the losses of the start.
  CHECK(one.back() < 0.8 * one.front());
}

/// Images of ten classes: a bright bar at a height that is the class's, and noise.
dp::image_set bars(std::size_t count) {
  using dp::dyn, dp::extents, dp::on, dp::cpu;
  dp::image_set set{dp::tensor<std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>>(extents<dyn, dyn, dyn>(count, 28, 28)),
                    dp::tensor<std::uint8_t, extents<dyn>, on<cpu>>(extents<dyn>(count))};
  std::mt19937 random(7);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t digit = random() % 10;
    set.labels(i) = static_cast<std::uint8_t>(digit);
    for (std::size_t p = 0; p < 784; ++p) {
      const bool in_bar = p / 28 / 2 == digit + 2;
      set.images.data()[784 * i + p] = static_cast<std::uint8_t>(random() % 100 + (in_bar ? 127 : 0));
    }
  }
  return set;
}

}  // namespace

TEST_CASE("replicas follow one device on images of ten classes", "[train]") {
  check_that_replicas_follow_one_device(bars(120), 12, 10);
}

TEST_CASE("replicas follow one device over 200 steps on MNIST", "[train]") {
  const char* folder = std::getenv("DEVPLACE_TEST_MNIST");
  if (folder == nullptr) DEVPLACE_SKIP("set DEVPLACE_TEST_MNIST to a folder with the four MNIST files");
  const std::string train = std::string(folder) + "/train-";
  check_that_replicas_follow_one_device(dp::read_image_set(train + "images-idx3-ubyte", train + "labels-idx1-ubyte"),
                                        200, 64);
}
