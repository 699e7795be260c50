// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of a training step of 784-256-10 with Adam on the CPUs of several forked processes with one thread each.
// benchmarks/peers/ddp.py runs it next to PyTorch's DistributedDataParallel.
//
//   bench_train_processes [processes [batch of each process [rounds]]]      defaults: 2, 64 and 5

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/launched_processes.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::median;
using dp::bench::now;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
using where = dp::across<dp::cpu>;

/// Prints the median over rounds of about half a second each.
void measure(std::size_t batch, int rounds) {
  dp::set_thread_count(1);
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  const std::size_t samples = batch * static_cast<std::size_t>(processes.size());
  const auto images = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 784>{samples}, dp::seed{1}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu> labels(dp::extents<dp::dyn>{samples});
  for (std::size_t i = 0; i < samples; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  const auto x = dp::to_batch<where>(images);
  const auto y = dp::to_batch<where>(labels);
  dp::model<net, where> model{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto seconds_of = [&](int steps) {
    processes.barrier();
    const double begin = now();
    for (int i = 0; i < steps; ++i) step(x, y);
    return processes.all_reduce((now() - begin) / steps, dp::reduction::max);
  };
  static_cast<void>(seconds_of(5));
  const int steps = 1 + static_cast<int>(0.5 / seconds_of(5));
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) times.push_back(seconds_of(steps));
  if (processes.is_main()) std::printf("%.1f\n", median(times) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::size_t batch = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  return dp::bench::in_launched_processes(processes, [&] { measure(batch, rounds); });
}
