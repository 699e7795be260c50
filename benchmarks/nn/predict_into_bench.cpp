// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nanoseconds per row of a prediction of 65,536 rows on the CPU: by predict_into with tiles of several sizes, by
// predict, and by a hand-written loop over views of 1,024 rows. Settings alternate within a round. Reports the median
// over the rounds, also relative to the hand-written loop. Argument: rounds (default 11).

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::now;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr std::size_t rows = 65536;

template <class Call> double nanoseconds_per_row(const Call& call) {
  const double begin = now();
  call();
  return (now() - begin) * 1e9 / static_cast<double>(rows);
}

template <class Net> void table(const char* name, int rounds) {
  using model_type = dp::model<Net, on_cpu>;
  constexpr std::size_t in = model_type::input_extents::static_extent(0);
  constexpr std::size_t out = model_type::output_extents::static_extent(0);
  const model_type model{dp::seed{1}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, in>{rows}, dp::seed{2}, -1.0F, 1.0F);
  dp::tensor<float, dp::extents<dp::dyn, out>, on_cpu> y(dp::extents<dp::dyn, out>{rows});
  const auto tiled = [&](auto tile) {
    return std::pair{"predict_into, tiles of " + std::to_string(tile.samples),
                     nanoseconds_per_row([&] { model.predict_into(y, x, tile); })};
  };
  const auto measure = [&] {
    return std::array{std::pair{std::string("own loop over views of 1024"), nanoseconds_per_row([&] {
                                  for (std::size_t first = 0; first < rows; first += 1024)
                                    model.predict_into(y.slice(first, first + 1024), x.slice(first, first + 1024));
                                })},
                      std::pair{std::string("predict_into"), nanoseconds_per_row([&] { model.predict_into(y, x); })},
                      std::pair{std::string("predict"), nanoseconds_per_row([&] {
                                  const auto result = model.predict(x);
                                  static_cast<void>(result);
                                })},
                      tiled(dp::batch<256>{}),
                      tiled(dp::batch<512>{}),
                      tiled(dp::batch<2048>{}),
                      tiled(dp::batch<4096>{}),
                      tiled(dp::batch<16384>{}),
                      tiled(dp::batch<rows>{})};
  };
  auto names = measure();
  std::array<std::vector<double>, names.size()> times;
  for (int round = 0; round < rounds; ++round) {
    const auto measured = measure();
    for (std::size_t i = 0; i < measured.size(); ++i) times[i].push_back(measured[i].second);
  }
  std::printf("%s\n", name);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf("  %-32s %8.1f ns per row  %5.2f\n", names[i].first.c_str(), dp::bench::median(times[i]),
                dp::bench::median(times[i]) / dp::bench::median(times[0]));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  std::printf("%d thread(s), 65536 rows\n", dp::thread_count());
  table<nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>>("784-256-10", rounds);
  table<nn::sequential<nn::linear<8, 64>, nn::relu, nn::linear<64, 64>, nn::relu, nn::linear<64, 2>>>("8-64-64-2",
                                                                                                      rounds);
}
