// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures training with less memory on a CPU: microseconds of a step with Adam, and bytes on a place, as planned and
// as measured. The first table compares six blocks of layers with six blocks in nn::recomputed, in one process. The
// second table compares collective policies, replicated models and models in shares, for a network of
// 784-1024-1024-10 in two processes with one thread each.
//
//   bench_train_larger_models [rounds]      default: 5

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/fully_sharded.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/launched_processes.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::bench::median;
using dp::bench::now;

namespace {

constexpr std::size_t rows = 64;

using wide = nn::sequential<nn::linear<784, 1024>, nn::relu, nn::linear<1024, 1024>, nn::relu, nn::linear<1024, 10>>;
template <std::size_t UnitBytes, dp::gathered Parameters = dp::gathered::given_up>
using in_shares = dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, UnitBytes, Parameters>>>;

/// A training, and its name and bytes on this process's place.
struct training {
  std::string name;
  std::size_t planned, measured;
  std::function<void()> step;
  std::vector<double> seconds = {};
};

/// Makes a training of `Net` that steps on one batch of random numbers.
template <class Net, class Where, class Policy, class Plan> training made(const char* name, std::size_t samples) {
  using input = typename dp::model<Net, Where>::input_extents;
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  struct state {
    dp::model<Net, Where> model{dp::seed{2}};
    dp::trainer<dp::model<Net, Where>, nn::cross_entropy, dp::optim::adam, Policy> step{model, nn::cross_entropy{},
                                                                                        dp::optim::adam{}};
  };
  const auto own = std::make_shared<state>();
  own->step.prepare(samples);
  const std::size_t measured = dp::memory_statistics<dp::cpu>().allocated - before;
  const auto x = std::make_shared<decltype(dp::to_batch<Where>(
      dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, input{}.size()>{samples})))>(
      dp::to_batch<Where>(
          dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, input{}.size()>{samples}, dp::seed{1}, 0.0F, 1.0F)));
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu> classes(dp::extents<dp::dyn>{samples});
  for (std::size_t i = 0; i < samples; ++i) classes(i) = static_cast<std::int64_t>(i % 10);
  const auto y = std::make_shared<decltype(dp::to_batch<Where>(classes))>(dp::to_batch<Where>(classes));
  return {name, Plan::bytes, measured, [own, x, y] { own->step(*x, *y); }};
}

/// Measures the trainings in turn, in rounds of about a quarter of a second for each.
void measure(std::vector<training>& trainings, int rounds, const auto& slowest) {
  for (int round = 0; round <= rounds; ++round)
    for (training& each : trainings) {
      const double one = slowest(dp::bench::once(each.step));
      const int steps = 1 + static_cast<int>(0.25 / one);
      const double begin = now();
      for (int i = 0; i < steps; ++i) each.step();
      const double seconds = slowest((now() - begin) / steps);
      if (round != 0) each.seconds.push_back(seconds);
    }
}
void print(const std::vector<training>& trainings) {
  std::printf("%-44s %12s %12s %12s %8s\n", "", "us in a step", "planned B", "measured B", "time");
  for (const training& each : trainings)
    std::printf("%-44s %12.0f %12zu %12zu %8.2f\n", each.name.c_str(), median(each.seconds) * 1e6, each.planned,
                each.measured, median(each.seconds) / median(trainings.front().seconds));
}

template <class... Types> struct list {};

/// Lets the matrix engine allocate its memory, which is not part of plans.
void warm_up() {
  dp::set_thread_count(1);
  const auto x = dp::ones<float, dp::cpu>(dp::extents<256, 256>{});
  static_cast<void>(dp::matmul(x, x));
}

void measure_policies(int rounds) {
  warm_up();
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  std::vector<training> trainings;
  const auto add = [&]<class Where, class Policy>(const char* name, list<Where, Policy>) {
    using model = dp::model<wide, Where>;
    trainings.push_back(
        made<wide, Where, Policy,
             dp::memory_plan<model, dp::batch<2 * rows>, dp::optim::adam, Policy, dp::processes<2>>>(name, 2 * rows));
  };
  using whole = dp::across<dp::cpu>;
  add("all_reduce", list<whole, collective::all_reduce<>>{});
  add("sharded_all_reduce", list<whole, collective::sharded_all_reduce<>>{});
  add("shares, units of 1 MiB", list<in_shares<(1 << 20)>, collective::gather_units<>>{});
  add("shares, units of 1 MiB, kept", list<in_shares<(1 << 20), dp::gathered::kept>, collective::gather_units<>>{});
  add("shares, one unit", list<in_shares<(25 << 20)>, collective::gather_units<>>{});
  measure(trainings, rounds, [&](double seconds) { return processes.all_reduce(seconds, dp::reduction::max); });
  if (!processes.is_main()) return;
  std::printf("784-1024-1024-10 in 2 processes, %zu samples in each\n", rows);
  print(trainings);
}

template <class... Layers>
using block = nn::residual<nn::layer_norm<256>, nn::linear<256, 1024>, nn::gelu, nn::linear<1024, 256>>;
using kept_block = block<>;
using recomputed_block = nn::recomputed<block<>>;
template <class Block>
using blocks = nn::sequential<nn::input<256>, Block, Block, Block, Block, Block, Block, nn::linear<256, 10>>;

void measure_recomputed(int rounds) {
  warm_up();
  std::vector<training> trainings;
  const auto add = [&]<class Net>(const char* name, list<Net>) {
    using plan = dp::memory_plan<dp::model<Net, dp::cpu>, dp::batch<512>, dp::optim::adam>;
    trainings.push_back(made<Net, dp::cpu, collective::all_reduce<>, plan>(name, 512));
  };
  add("six blocks of width 256, 512 samples", list<blocks<kept_block>>{});
  add("the blocks recomputed", list<blocks<recomputed_block>>{});
  measure(trainings, rounds, [](double seconds) { return seconds; });
  constexpr auto cost = dp::runtime::network_plan<blocks<recomputed_block>>::cost;
  print(trainings);
  std::printf("products of the plan, recomputed to not recomputed: %.2f\n\n",
              1 + static_cast<double>(cost.repeated) / (3 * static_cast<double>(cost.forward)));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  measure_recomputed(rounds);
  return dp::bench::in_launched_processes(2, [&] { measure_policies(rounds); });
}
