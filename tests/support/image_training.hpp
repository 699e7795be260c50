// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
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

namespace devplace::test {

/// The reference model.
using mnist_net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

/// Returns the losses of the first steps of a training on images, by one program for every placement.
template <class Where> std::vector<double> image_losses(const image_set& images, std::size_t steps, std::size_t batch) {
  model<mnist_net, Where> model{seed{1}};
  trainer step{model, nn::cross_entropy{}, optim::sgd{.learning_rate = 0.1, .momentum = 0.5}};
  loader<Where> batches{images, {.batch = batch, .shuffle = seed{2}}};
  std::vector<double> result;
  for (int epoch = 0; result.size() < steps; ++epoch)
    for (const auto& [x, y] : batches.epoch(epoch)) {
      result.push_back(static_cast<double>(step(x, y).item()));
      if (result.size() == steps) break;
    }
  if constexpr (!single_place<Where>) check_replicas(model);
  return result;
}

/// Returns the largest relative difference between the losses of two trainings.
inline double largest_difference(const std::vector<double>& losses, const std::vector<double>& reference) {
  double worst = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double difference = std::abs(losses.at(i) - reference[i]) / reference[i];
    worst = difference <= worst ? worst : difference;  // propagates NaN
  }
  return worst;
}

/// Makes images of ten classes: a bright bar, whose height in the image is the class, and noise.
inline image_set bars(std::size_t count) {
  image_set set{tensor<std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>>(extents<dyn, dyn, dyn>(count, 28, 28)),
                tensor<std::uint8_t, extents<dyn>, on<cpu>>(extents<dyn>(count))};
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

/// Reads MNIST's training set, if the environment names its folder.
inline std::optional<image_set> mnist_training_set() {
  const char* folder = std::getenv("DEVPLACE_TEST_MNIST");
  if (folder == nullptr) return std::nullopt;
  const std::string train = std::string(folder) + "/train-";
  return read_image_set(train + "images-idx3-ubyte", train + "labels-idx1-ubyte");
}

}  // namespace devplace::test
