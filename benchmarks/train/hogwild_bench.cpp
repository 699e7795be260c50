// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of a training step of 784-256-10 by SGD with momentum on a model in shared memory, trained by one
// process, next to a model on the CPU: the difference is the cost of reading the parameters and adding the changes.
// Settings alternate within a round, and the median over the rounds is reported. Arguments: rounds (default 15), then
// thread counts (default 1 and all).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/shared_memory.hpp>

#include "support/thread_counts.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;
namespace nn = devplace::nn;
using cpu = dp::on<dp::cpu>;
using shared = dp::on<dp::shared_memory>;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

/// Returns the seconds per step, the mean over about 20 ms.
template <dp::placement Where> double measure(std::size_t batch) {
  const auto images = dp::uniform<float, cpu>(dp::extents<dp::dyn, 784>{batch}, dp::seed{1}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, cpu> labels(dp::extents<dp::dyn>{batch});
  for (std::size_t i = 0; i < batch; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  dp::model<net, Where> model{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.5}};
  step(images, labels);
  std::size_t calls = 0;
  const double begin = now();
  do {
    step(images, labels);
    ++calls;
  } while (now() - begin < 0.02);
  return (now() - begin) / static_cast<double>(calls);
}

void table(int threads, int rounds) {
  dp::set_thread_count(threads);
  std::printf("%d thread(s)\n  batch   cpu us   shared_memory us\n", threads);
  for (const std::size_t batch : std::vector<std::size_t>{64, 256, 1024}) {
    std::vector<double> on_cpu, on_shared;
    for (int round = 0; round < rounds; ++round) {
      on_cpu.push_back(measure<cpu>(batch));
      on_shared.push_back(measure<shared>(batch));
    }
    std::printf("  %5zu %8.0f %18.0f\n", batch, median(on_cpu) * 1e6, median(on_shared) * 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::vector<int> counts = dp::bench::thread_counts(argc, argv);
  for (const int threads : counts) table(threads, rounds);
}
