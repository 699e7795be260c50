// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The network of examples/cnn.cpp in float, mixed<bf16> and mixed<half> on the CPU.
//
//   bench_train_cnn_precision                     the time of a step in each, alternated
//   bench_train_cnn_precision DIR float|bf16|half [EPOCHS [SEED]]
//                                                 trains on MNIST as the example does, and prints the accuracy

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/cnn.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr std::size_t batch = 64;

template <class Precision> double seconds_of_step() {
  dp::model<dp::bench::cnn, on_cpu, Precision> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, 1, 28, 28>{batch}, dp::seed{2}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels(dp::extents<dp::dyn>{batch});
  for (std::size_t i = 0; i < batch; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  return dp::bench::time_of([&] { static_cast<void>(step(x, labels)); });
}

void time_steps() {
  std::vector<double> in_float, in_bf16, in_half;
  for (int round = 0; round < 9; ++round) {
    in_float.push_back(seconds_of_step<float>());
    in_bf16.push_back(seconds_of_step<dp::mixed<dp::bf16>>());
    in_half.push_back(seconds_of_step<dp::mixed<dp::half>>());
  }
  const auto median = [](const std::vector<double>& seconds) { return 1e6 * dp::bench::median(seconds); };
  std::printf("a step of %zu images, microseconds: float %.0f, mixed<bf16> %.0f, mixed<half> %.0f\n", batch,
              median(in_float), median(in_bf16), median(in_half));
}

template <class Precision> double train(const dp::labelled_images& data, int epochs, std::uint64_t seed) {
  constexpr double learning_rate = 2e-3;
  dp::model<dp::bench::cnn, on_cpu, Precision> model{dp::seed{seed}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = learning_rate}};
  dp::loader<on_cpu> batches{data.train,
                             {.batch = batch, .shuffle = dp::seed{seed + 1}, .drop_last = true, .workers = 1}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.optimizer().rule().learning_rate = learning_rate * (1 - static_cast<double>(epoch) / epochs);
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
  }
  return dp::accuracy(model, data.test);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    time_steps();
    return 0;
  }
  const std::string precision = argv[2];
  const int epochs = argc > 3 ? std::atoi(argv[3]) : 5;
  const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  const dp::labelled_images data = dp::read_mnist(argv[1]);
  const double begin = dp::bench::now();
  const double accuracy = precision == "bf16"   ? train<dp::mixed<dp::bf16>>(data, epochs, seed)
                          : precision == "half" ? train<dp::mixed<dp::half>>(data, epochs, seed)
                                                : train<float>(data, epochs, seed);
  std::printf("%s, seed %llu: %.2f %% of the test images right, %.1f s\n", precision.c_str(),
              static_cast<unsigned long long>(seed), 100 * accuracy, dp::bench::now() - begin);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
