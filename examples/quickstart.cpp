// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains a network on 1,437 images of hand-written digits, 8x8 pixels each, and tests it on 360 others, chosen at
// random. Uses the first GPU if available, else the CPU: the placement is a type, and the network does not name one.
// With several devices, real or simulated, the same function then trains replicas on all of them, which must give the
// same result.
//
//   quickstart [folder]      a folder with the files of examples/data

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::linear<128, 64>, nn::relu, nn::linear<64, 10>>;

constexpr int epochs = 20;
constexpr std::size_t batch = 32;

/// The largest allowed relative difference of the losses. Sums over three places are rounded in a different order than
/// over one, which accumulates over 900 steps. The numbers of correctly classified images may differ by one.
constexpr double tolerance = 1e-2;

/// The result of a training.
struct training {
  std::string placement;
  std::size_t memory = 0;           ///< bytes on each place
  std::vector<double> losses = {};  ///< mean of each epoch
  double right = 0;                 ///< fraction of held-out images classified correctly
  double seconds = 0;
};

/// Trains on `Where`; prints progress to `out` unless it is null.
template <dp::placement Where> training train(const dp::labelled_images& data, std::FILE* out) {
  using model_type = dp::model<net, Where>;
  using memory = dp::memory_plan<model_type, dp::batch<batch>, dp::optim::adam>;
  static_assert(memory::bytes < (1 << 20), "what training takes is known before anything runs");
  training result{.placement = dp::placement_name<Where>(), .memory = memory::bytes};

  const auto start = std::chrono::steady_clock::now();
  const dp::loader_options sixteenths{.batch = batch, .shuffle = dp::seed{2}, .scale = 1.0 / 16};  // pixels are 0 to 16
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
  dp::loader<Where> batches{data.train, sixteenths};
  dp::progress progress{epochs, batches, {.stream = out}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      step(images, labels);
      progress.update(epoch, images.extent(0), [&] { return step.mean_loss(); });
    }
    result.losses.push_back(step.mean_loss());
  }
  result.right = dp::accuracy(model, data.test, sixteenths);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void print(const training& t) {
  std::printf("%-34s  %6zu bytes  loss %.4f  %.1f %% right  %.1f s\n", t.placement.c_str(), t.memory, t.losses.back(),
              100 * t.right, t.seconds);
}

/// The largest relative difference between the losses of two trainings.
double difference(const training& a, const training& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    largest = std::max(largest, std::abs(a.losses[i] - b.losses[i]) / a.losses[i]);
  return largest;
}

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : DEVPLACE_EXAMPLE_DATA;
  const dp::image_set digits =
      dp::read_image_set(folder + "/digits-images-idx3-ubyte", folder + "/digits-labels-idx1-ubyte");
  const dp::labelled_images data = dp::hold_out(digits, 360, dp::seed{3});
  std::printf("cuda places    %s\n", dp::cuda_support_description().c_str());
  std::printf("CPU products   %s\n", std::string(dp::matrix_engine().name).c_str());

  const training one = dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>([&](auto where) {
    std::printf("parameters     %zu\n", dp::model<net, decltype(where)>::parameter_count());
    std::printf("placement      %s\n", dp::placement_name<decltype(where)>().c_str());
    return train<decltype(where)>(data, stdout);
  });
  const auto several = dp::first_available<dp::replicated<0, 1, 2>, dp::replicated<0, 1>, dp::on<dp::cpu>>(
      [&](auto where) -> std::optional<training> {
        if constexpr (std::same_as<decltype(where), dp::on<dp::cpu>>)
          return std::nullopt;  // at most one device, which was already used
        else
          return train<decltype(where)>(data, nullptr);
      });

  std::printf("\n");
  print(one);
  if (several) {
    print(*several);
    const double largest = difference(one, *several);
    std::printf("losses of all epochs agree to %.1e of their size\n", largest);
    const double images = std::abs(one.right - several->right) * static_cast<double>(data.test.labels.size());
    if (!(largest <= tolerance && images < 1.5)) {
      std::fprintf(stderr, "quickstart: the two trainings differ: losses within %g and one image at most are due.\n",
                   tolerance);
      return 1;
    }
  }
  return one.right >= 0.95 ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
