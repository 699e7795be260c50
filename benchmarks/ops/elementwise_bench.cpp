// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nanoseconds per element of elementwise operations on floats with one thread, next to std::memcpy of as many elements,
// for sizes in the first-level cache, the second-level cache and memory. Operations alternate within a round, and the
// best round is reported. Argument: rounds (20). To compare versions, build the benchmark with each and alternate the
// programs.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/silu.hpp>
#include <devplace/ops/activations.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/softmax.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr std::size_t sizes[] = {2048, 32768, 1 << 22};
constexpr std::size_t columns = 256;

template <class Visit> void operations(std::size_t n, const Visit& visit) {
  const auto x = dp::normal<float, on_cpu>(dp::extents<dp::dyn>(n), dp::seed{1});
  const auto y = dp::normal<float, on_cpu>(dp::extents<dp::dyn>(n), dp::seed{2});
  const auto bias = dp::normal<float, on_cpu>(dp::extents<columns>{}, dp::seed{3});
  auto to = dp::zeros<float, on_cpu>(dp::extents<dp::dyn>(n));
  const auto rows = x.view().reshape(dp::extents<dp::dyn, columns>(n / columns));
  const auto to_rows = to.view().reshape(dp::extents<dp::dyn, columns>(n / columns));
  // Images of 16 x 8 elements with one number per channel, and rows of 4.
  const auto channels = dp::normal<float, on_cpu>(dp::extents<dp::dyn, 1, 1>(n / (16 * 128)), dp::seed{4});
  const auto images = x.view().reshape(dp::extents<16, dp::dyn, 16, 8>(n / (16 * 128)));
  const auto to_images = to.view().reshape(dp::extents<16, dp::dyn, 16, 8>(n / (16 * 128)));
  const auto few = dp::normal<float, on_cpu>(dp::extents<4>{}, dp::seed{5});
  const auto short_rows = x.view().reshape(dp::extents<dp::dyn, 4>(n / 4));
  const auto to_short_rows = to.view().reshape(dp::extents<dp::dyn, 4>(n / 4));
  visit("memcpy", [&] { std::memcpy(to.data(), x.data(), n * sizeof(float)); });
  visit("x + y", [&] { to = x + y; });
  visit("x / y", [&] { to = x / y; });
  visit("x + 2 * y * y - 1", [&] { to = x + 2.0F * y * y - 1.0F; });
  visit("rows + bias", [&] { to_rows = rows + bias; });
  visit("images * channels", [&] { to_images = images * channels; });
  visit("rows of 4 + bias", [&] { to_short_rows = short_rows + few; });
  visit("abs(x)", [&] { to = dp::abs(x); });
  visit("relu(x)", [&] { to = dp::relu(x); });
  visit("relu, backward", [&] { to = dp::where(y <= 0, 0, x); });
  visit("maximum(x, y)", [&] { to = dp::maximum(x, y); });
  visit("exp(x)", [&] { to = dp::exp(x); });
  visit("tanh(x)", [&] { to = dp::tanh(x); });
  visit("tanh, backward", [&] { to = x * (1.0F - y * y); });
  visit("sigmoid(x)", [&] { to = dp::sigmoid(x); });
  visit("expm1(x)", [&] { to = dp::expm1(x); });
  visit("log(x)", [&] { to = dp::log(x); });
  visit("erf(x)", [&] { to = dp::erf(x); });
  visit("gelu(x)", [&] { to = dp::gelu(x); });
  visit("gelu, backward", [&] { to = dp::nn::gelu::gradient(y, x); });
  visit("gelu_tanh(x)", [&] { to = dp::gelu_tanh(x); });
  visit("silu(x)", [&] { to = dp::silu(x); });
  visit("silu, backward", [&] { to = dp::nn::silu::gradient(y, x); });
  visit("softplus(x)", [&] { to = dp::softplus(x); });
  visit("softmax(rows)", [&] { dp::softmax_into(to_rows, rows); });
  visit("log_softmax(rows)", [&] { dp::log_softmax_into(to_rows, rows); });
}

struct result {
  const char* name;
  double best[std::size(sizes)];
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  dp::builtin_thread_team team(1);
  const dp::thread_team_scope scope(team);
  std::vector<result> results;
  for (std::size_t s = 0; s != std::size(sizes); ++s) {
    for (int round = 0; round < rounds; ++round) {
      std::size_t k = 0;
      operations(sizes[s], [&](const char* name, const auto& run) {
        const std::size_t calls = 1 + (1 << 16) / sizes[s];
        run();
        const double begin = dp::bench::now();
        for (std::size_t call = 0; call != calls; ++call) run();
        const double taken = 1e9 * (dp::bench::now() - begin) / static_cast<double>(calls * sizes[s]);
        if (k == results.size()) results.push_back({name, {}});
        double& best = results[k++].best[s];
        if (round == 0 || taken < best) best = taken;
      });
    }
  }
  std::printf("%-20s", "ns per element");
  for (const std::size_t n : sizes) std::printf(" %12zu   / memcpy", n);
  for (const result& of : results) {
    std::printf("\n%-20s", of.name);
    for (std::size_t s = 0; s != std::size(sizes); ++s)
      std::printf(" %12.3f %10.1f", of.best[s], of.best[s] / results[0].best[s]);
  }
  std::printf("\n");
  return 0;
}
