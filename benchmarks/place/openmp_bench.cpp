// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of a training step and of a prediction beside an OpenMP program whose threads spin after each region, as
// libgomp's do unless OMP_WAIT_POLICY=passive. Three settings alternate within a round: the process's team, OpenMP's
// threads lent to devplace, and the calling thread only. Also times the program's own loops. Reports medians and the
// slowest round. Argument: rounds (default 40). openmp_settings.sh runs this under settings of libgomp.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <omp.h>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/trainer.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::median;
using dp::bench::now;
using on_cpu = dp::on<dp::cpu>;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

/// The team of the documentation of thread_team.
struct openmp_team {
  static int size() { return omp_get_max_threads(); }
  static void run(auto function) {
    const int members = size();
#pragma omp parallel for schedule(static, 1)
    for (int member = 0; member < members; ++member) function(member);
  }
};

/// Does the solver's own work, about a millisecond; its threads then wait for more work.
void solve(std::vector<float>& field) {
#pragma omp parallel for
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = field[i] * 0.5F + 1.0F;
}

/// Starts and ends regions, as a solver of many small loops does; the time of one.
void start_regions(std::vector<float>& field) {
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel
    field[static_cast<std::size_t>(omp_get_thread_num())] += 1.0F;
  }
}

template <class Call> double seconds(Call&& call) {
  const double begin = now();
  call();
  return now() - begin;
}

void print(const char* name, std::vector<double>& times) {
  std::printf("  %-48s %9.1f %9.0f\n", name, median(times) * 1e6, *std::max_element(times.begin(), times.end()) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
  constexpr std::size_t batch = 64;
  const auto images = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, 784>{batch}, dp::seed{1}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels(dp::extents<dp::dyn>{batch});
  for (std::size_t i = 0; i < batch; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  dp::model<net, on_cpu> model{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  std::vector<float> field(std::size_t{1} << 22, 1.0F);

  openmp_team lent;
  dp::serial_team serial;
  const auto steps = [&] {
    for (int i = 0; i < 5; ++i) step(images, labels);
  };
  const auto predict = [&] { static_cast<void>(model.predict(images)); };
  const auto with = [&](auto& team, const auto& call) {
    const dp::thread_team_scope scope(team);
    call();
  };
  std::array<std::vector<double>, 10> times;
  for (int round = 0; round < rounds; ++round) {
    steps();
    times[0].push_back(seconds(steps) / 5);
    solve(field);
    times[1].push_back(seconds(predict));
    solve(field);
    times[2].push_back(seconds(steps) / 5);
    solve(field);
    times[3].push_back(seconds([&] { with(lent, predict); }));
    times[4].push_back(seconds([&] { with(lent, steps); }) / 5);
    solve(field);
    times[5].push_back(seconds([&] { with(serial, predict); }));
    times[6].push_back(seconds([&] { with(serial, steps); }) / 5);
    solve(field);
    times[7].push_back(seconds([&] { solve(field); }));
    steps();
    times[8].push_back(seconds([&] { solve(field); }));
    times[9].push_back(seconds([&] { start_regions(field); }) / 100);
  }
  std::printf("%d threads of devplace, %d of OpenMP, microseconds           median   slowest\n", dp::thread_count(),
              omp_get_max_threads());
  print("step, the process's team", times[0]);
  print("prediction after an OpenMP loop, the process's team", times[1]);
  print("step after an OpenMP loop, the process's team", times[2]);
  print("prediction after an OpenMP loop, OpenMP's threads", times[3]);
  print("step, OpenMP's threads", times[4]);
  print("prediction after an OpenMP loop, serial_team", times[5]);
  print("step, serial_team", times[6]);
  print("OpenMP loop after an OpenMP loop", times[7]);
  print("OpenMP loop after a step, the process's team", times[8]);
  print("one of many small OpenMP regions", times[9]);
}
