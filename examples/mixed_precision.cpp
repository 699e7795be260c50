// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains in float, mixed<bf16> and mixed<half>; only the model's type differs. Prints for each the accuracy, the
// planned and the allocated memory, the time of a step, and the history of the loss scale in half.
//
//   mixed_precision DIR [EPOCHS [SEED [REQUIRE]]]
//
// DIR has train-images-idx3-ubyte and its three companions, plain or .gz. Fails if a precision classifies less than the
// fraction REQUIRE of the test images correctly.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using where = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 128>, nn::relu, nn::linear<128, 10>>;
constexpr std::size_t batch = 64;

struct given {
  int epochs;
  std::uint64_t seed;
  double require;
};

template <class Precision> void train(const char* name, const dp::labelled_images& data, const given& options) {
  using model_type = dp::model<net, where, Precision>;
  using plan = dp::memory_plan<model_type, dp::batch<batch>, dp::optim::adam>;
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  model_type model{dp::seed{options.seed}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-3}};
  step.prepare(batch);
  const std::size_t allocated = dp::memory_statistics<dp::cpu>().allocated - before;

  // The history of the scale in half: `65536 -> 32768 at 1` after the first step was skipped.
  std::string history;
  [[maybe_unused]] double scale = 0;
  if constexpr (dp::scales_losses<Precision>) {
    scale = step.scaler().scale;
    history = std::to_string(static_cast<long>(scale));
  }
  long steps = 0;
  std::chrono::duration<double> seconds{};
  dp::loader<where> batches{data.train, {.batch = batch, .shuffle = dp::seed{options.seed + 1}, .workers = 1}};
  for (int epoch = 0; epoch < options.epochs; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      const auto start = std::chrono::steady_clock::now();
      step(images, labels);
      seconds += std::chrono::steady_clock::now() - start;
      ++steps;
      if constexpr (dp::scales_losses<Precision>) {
        const double now = step.scaler().scale;  // waits for the place; call it only at the end if no history is needed
        if (now != scale) history += " -> " + std::to_string(static_cast<long>(now)) + " at " + std::to_string(steps);
        scale = now;
      }
    }
  if constexpr (dp::scales_losses<Precision>)
    history += ", " + std::to_string(step.scaler().skipped_steps) + " of " + std::to_string(steps) + " steps skipped";
  const double accuracy = dp::accuracy(model, data.test);
  std::printf("%-12s %9.2f %% %12zu %12zu %9.1f us   %s\n", name, 100 * accuracy, plan::bytes, allocated,
              1e6 * seconds.count() / static_cast<double>(steps), history.c_str());
  if (allocated != plan::bytes) throw dp::error("the plan and the allocated memory differ");
  if (!(accuracy >= options.require)) throw dp::error("fewer test images are right than required");
}

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "usage: mixed_precision DIR [EPOCHS [SEED [REQUIRE]]]\n");
    return 2;
  }
  const given options{argc > 2 ? std::atoi(argv[2]) : 5, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1,
                      argc > 4 ? std::atof(argv[4]) : 0};
  const dp::labelled_images data = dp::read_mnist(argv[1]);
  {
    dp::model<net, where> any{dp::seed{0}};
    dp::trainer(any, nn::cross_entropy{}, dp::optim::adam{}).prepare(batch);  // workspaces that exist once per process
  }
  std::printf("%-12s %11s %12s %12s %12s   %s\n", "precision", "right", "planned B", "allocated B", "step",
              "scale of the loss");
  train<float>("float", data, options);
  train<dp::mixed<dp::bf16>>("mixed<bf16>", data, options);
  train<dp::mixed<dp::half>>("mixed<half>", data, options);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
