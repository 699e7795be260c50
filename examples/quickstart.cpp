// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains a network on 1,437 images of hand-written digits, 8x8 pixels each, and tests it on 360 others that were drawn
// at random. It uses the first GPU if this program can, else the CPU: the placement is a type, and the network is
// written without one.
//
//   quickstart [folder]      a folder with the files of examples/data

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::linear<128, 64>, nn::relu, nn::linear<64, 10>>;

constexpr int epochs = 20;
constexpr std::size_t batch = 32;

/// Trains on `Where` and returns the share of the held-out images that the network then gets right.
template <dp::placement Where>
double train(const dp::labelled_images& data) {
  using model_type = dp::model<net, Where>;
  using memory = dp::memory_plan<model_type, dp::batch<batch>, dp::optim::adam>;
  static_assert(memory::bytes < (1 << 20), "what training takes is known before anything runs");

  std::printf("placement      %s\n", dp::placement_name<Where>().c_str());
  std::printf("CPU products   %s\n", std::string(dp::matrix_engine().name).c_str());
  std::printf("parameters     %zu\n", model_type::parameter_count());
  std::printf("memory         %zu bytes: %zu parameters, %zu gradients, %zu optimizer, %zu activations, %zu other\n",
              memory::bytes, memory::parameters, memory::gradients, memory::optimizer_state, memory::activations,
              memory::buffers + memory::sums + memory::reduction_buffer);

  const dp::loader_options sixteenths{.batch = batch, .shuffle = dp::seed{2}, .scale = 1.0 / 16};  // pixels are 0 to 16
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
  dp::loader<Where> batches{data.train, sixteenths};
  dp::progress progress{epochs, batches.samples()};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      step(images, labels);
      progress.update(epoch, images.extent(0), [&] { return step.mean_loss(); });
    }
  }
  return dp::accuracy(model, data.test, sixteenths);
}

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : DEVPLACE_EXAMPLE_DATA;
  const dp::image_set digits =
      dp::read_image_set(folder + "/digits-images-idx3-ubyte", folder + "/digits-labels-idx1-ubyte");
  const dp::labelled_images data = dp::hold_out(digits, 360, dp::seed{3});

  const auto start = std::chrono::steady_clock::now();
  const double accuracy = dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(
      [&](auto where) { return train<decltype(where)>(data); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  std::printf("result         %.1f %% of %zu held-out images right, %.1f s\n", 100 * accuracy, data.test.size(),
              seconds.count());
  return accuracy >= 0.95 ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
