// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Samples per second of a training step of 784-256-10 with several replicas, each a simulated device with one thread,
// relative to one replica: the gain from data parallelism on this machine's cores. Placements alternate within a round
// and the median over the rounds is reported. Arguments: rounds (9), samples per replica (64, 256, 1024).

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/trainer.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::bench::median;
using dp::bench::now;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
using host = dp::on<dp::cpu>;

template <class Where, class X> auto distribute(const X& x) {
  if constexpr (dp::single_place<Where>)
    return dp::to<Where>(x);
  else
    return dp::scatter<dp::batch_placement_t<Where>>(x);
}

auto images(std::size_t samples) {
  return dp::uniform<float, host>(dp::extents<dp::dyn, 784>{samples}, dp::seed{1}, 0.0F, 1.0F);
}
auto labels(std::size_t samples) {
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, host> y(dp::extents<dp::dyn>{samples});
  for (std::size_t i = 0; i != samples; ++i) y(i) = static_cast<std::int64_t>(i % 10);
  return y;
}

/// Returns the seconds per step, the mean over at least 50 ms.
template <class Where, class Policy> double step_time(std::size_t samples) {
  const auto x = distribute<Where>(images(samples));
  const auto y = distribute<Where>(labels(samples));
  dp::model<net, Where> model{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, Policy{}};
  step(x, y).item();
  for (std::size_t steps = 2;; steps *= 2) {
    const double begin = now();
    for (std::size_t i = 1; i != steps; ++i) step(x, y);
    step(x, y).item();
    const double taken = now() - begin;
    if (taken >= 0.05) return taken / static_cast<double>(steps);
  }
}

void measure(std::size_t each, int rounds) {
  std::vector<double> one, by_all_reduce, by_sharded, by_scatter_gather, by_ring;
  for (int round = 0; round < rounds; ++round) {
    one.push_back(step_time<dp::on<dp::cuda<0>>, collective::all_reduce<>>(each));
    by_all_reduce.push_back(step_time<dp::replicated<0, 1>, collective::all_reduce<>>(2 * each));
    by_sharded.push_back(step_time<dp::replicated<0, 1>, collective::sharded_all_reduce<>>(2 * each));
    by_scatter_gather.push_back(step_time<dp::replicated<0, 1>, collective::scatter_gather>(2 * each));
    by_ring.push_back(step_time<dp::replicated<0, 1>, collective::ring_all_reduce>(2 * each));
  }
  const auto gain = [&](const std::vector<double>& two) { return 2 * median(one) / median(two); };
  std::printf("%8zu %10.0f", each, median(one) * 1e6);
  for (const auto* times : {&by_all_reduce, &by_sharded, &by_scatter_gather, &by_ring})
    std::printf("%18.0f %5.2f", median(*times) * 1e6, gain(*times));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {64, 256, 1024};
  std::printf("microseconds of a step, and samples per second of two replicas over those of one\n");
  std::printf("%8s %10s", "each", "one");
  for (const char* policy : {"all_reduce", "sharded", "scatter_gather", "engine ring"})
    std::printf("%18s %5s", policy, "gain");
  std::printf("\n");
  for (const std::size_t each : sizes) measure(each, rounds);
}
