// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <ratio>
#include <vector>

#include <devplace/nn/dropout.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::input<50>, nn::dropout<std::ratio<3, 10>>>;
using run = dp::runtime::engine<net, float, dp::backend::cpu>;

std::vector<float> dropped(std::size_t rows, const nn::random_key& key) {
  const std::vector<float> x(rows * 50, 1.0F);
  std::vector<float> workspace(run::workspace_bytes(rows, nn::mode::train) / sizeof(float));
  const auto p = run::make_pass(dp::runtime::replica<float>{}, workspace.data(), rows, nn::mode::train, key);
  run::forward(p, x.data());
  return std::vector<float>(run::output_of(p), run::output_of(p) + x.size());
}

}  // namespace

TEST_CASE("dropout's gradient agrees with differences if every pass has the same draw", "[nn]") {
  CHECK(nn::check_gradients<net>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 20>, nn::dropout<std::ratio<3, 10>>, nn::linear<20, 3>>>(
            dp::seed{2})
            .worst < 1e-7);
}

TEST_CASE("two halves of a batch drop the same elements as the whole batch", "[nn]") {
  const nn::random_key key{7, 3, 0, 0};
  const auto whole = dropped(10, key);
  const auto first = dropped(6, key), second = dropped(4, {7, 3, 0, 6});
  CHECK(std::vector<float>(whole.begin(), whole.begin() + 300) == first);
  CHECK(std::vector<float>(whole.begin() + 300, whole.end()) == second);
}

TEST_CASE("dropout draws different numbers for every step, layer and seed", "[nn]") {
  const auto base = dropped(10, {7, 3, 0, 0});
  CHECK(base != dropped(10, {7, 4, 0, 0}));
  CHECK(base != dropped(10, {7, 3, 1, 0}));
  CHECK(base != dropped(10, {8, 3, 0, 0}));
  CHECK(base == dropped(10, {7, 3, 0, 0}));
}

TEST_CASE("the probability of dropout may be any ratio", "[nn]") {
  using eighth = nn::sequential<nn::input<50>, nn::dropout<std::ratio<1, 8>>>;
  using eighth_run = dp::runtime::engine<eighth, double, dp::backend::cpu>;
  constexpr std::size_t rows = 400;
  const std::vector<double> x(rows * 50, 1.0);
  std::vector<double> workspace(eighth_run::workspace_bytes(rows, nn::mode::train) / sizeof(double));
  const auto p =
      eighth_run::make_pass(dp::runtime::replica<double>{}, workspace.data(), rows, nn::mode::train, {7, 3, 0, 0});
  eighth_run::forward(p, x.data());
  std::size_t zeros = 0, kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    zeros += eighth_run::output_of(p)[i] == 0;
    kept += eighth_run::output_of(p)[i] == 8.0 / 7;
  }
  CHECK(zeros + kept == x.size());
  CHECK(zeros > 2300);  // of 20,000; expected 2,500, standard deviation 47
  CHECK(zeros < 2700);
}
