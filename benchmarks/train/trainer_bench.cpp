// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of a training step of 784-256-10 on the CPU, and the share that its matrix products alone would take at
// the speed of the same engine's 512 x 512 x 512 product in the same run. Settings alternate within a round and the
// median over the rounds is reported. Arguments: rounds (default 15), then thread counts (default 1 and all).

#include <algorithm>
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
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/matrix_engine.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/thread_counts.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;
namespace nn = devplace::nn;
using on_cpu = dp::on<dp::cpu>;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

/// Returns the seconds per call, the mean over about 20 ms.
template <class Call> double time_of(Call&& call) {
  std::size_t calls = 0;
  const double begin = now();
  do {
    call();
    ++calls;
  } while (now() - begin < 0.02);
  return (now() - begin) / static_cast<double>(calls);
}

/// Counts the floating-point operations of a step's products: forward and weight gradients of both layers, and one
/// input gradient.
double products(std::size_t batch) { return 2.0 * static_cast<double>(batch) * (2.0 * 784 * 256 + 3.0 * 256 * 10); }

template <class Rule> class step {
 public:
  explicit step(std::size_t batch)
      : images_(dp::uniform<float, on_cpu>(dp::extents<dp::dyn, 784>{batch}, dp::seed{1}, 0.0F, 1.0F)),
        labels_(dp::extents<dp::dyn>{batch}),
        model_(dp::seed{2}),
        trainer_(model_, nn::cross_entropy{}, Rule{}) {
    for (std::size_t i = 0; i < batch; ++i) labels_(i) = static_cast<std::int64_t>(i % 10);
  }
  double measure() {
    return time_of([&] { trainer_(images_, labels_); });
  }

 private:
  dp::tensor<float, dp::extents<dp::dyn, 784>, on_cpu> images_;
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels_;
  dp::model<net, on_cpu> model_;
  dp::trainer<dp::model<net, on_cpu>, nn::cross_entropy, Rule> trainer_;
};

void table(int threads, int rounds) {
  dp::set_thread_count(threads);
  const std::vector<std::size_t> batches{64, 256, 1024};
  std::vector<std::vector<double>> adam(batches.size()), sgd(batches.size());
  std::vector<double> peak;
  const auto a = dp::uniform<float, on_cpu>(dp::extents<512, 512>{}, dp::seed{3}, -1.0F, 1.0F);
  auto c = dp::matmul(a, a);
  for (int round = 0; round < rounds; ++round) {
    peak.push_back(2.0 * 512 * 512 * 512 / time_of([&] { dp::matmul_into(c, a, a); }));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      adam[i].push_back(step<dp::optim::adam>(batches[i]).measure());
      sgd[i].push_back(step<dp::optim::sgd>(batches[i]).measure());
    }
  }
  std::printf("%d thread(s), square product %.0f GFLOP/s\n", threads, median(peak) * 1e-9);
  std::printf("  batch   adam us   sgd us   products alone us   adam / products\n");
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const double floor = products(batches[i]) / median(peak);
    std::printf("  %5zu  %8.0f %8.0f %19.0f %17.2f\n", batches[i], median(adam[i]) * 1e6, median(sgd[i]) * 1e6,
                floor * 1e6, median(adam[i]) / floor);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::vector<int> counts = dp::bench::thread_counts(argc, argv);
  std::printf("engine: %s\n", std::string(dp::matrix_engine().name).c_str());
  for (const int threads : counts) table(threads, rounds);
}
