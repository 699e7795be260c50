// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstddef>
#include <ratio>
#include <string>
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using plain = nn::sequential<nn::input<5, 12>, nn::multi_head_attention<12, 3>>;
using causal = nn::sequential<nn::input<70, 6>, nn::multi_head_attention<6, 2, nn::causal>>;

template <std::size_t Length>
using long_model = dp::model<nn::sequential<nn::input<Length, 32>, nn::multi_head_attention<32, 4>>, dp::on<dp::cpu>>;
template <std::size_t Length>
constexpr std::size_t activations_of = dp::memory_plan<long_model<Length>, dp::batch<2>, dp::optim::sgd>::activations;

}  // namespace

TEST_CASE("multi_head_attention agrees with PyTorch", "[nn]") {
  const std::vector<std::string> names{"in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias"};
  dp::test::compare_with_pytorch_in_both<plain, dp::extents<3, 5, 12>, dp::extents<3, 5, 12>>("attention/plain", names);
  dp::test::compare_with_pytorch_in_both<causal, dp::extents<1, 70, 6>, dp::extents<1, 70, 6>>("attention/causal",
                                                                                               names);
}

TEST_CASE("multi_head_attention's gradient agrees with differences, also with dropout", "[nn]") {
  using dropping = nn::multi_head_attention<6, 2, nn::attention_dropout<std::ratio<1, 4>>, nn::causal>;
  using net = nn::sequential<nn::input<7, 3>, nn::linear<3, 6>, dropping, nn::linear<6, 2>>;
  CHECK(nn::check_gradients<net>(dp::seed{3}).worst < 1e-6);
}

TEST_CASE("attention drops the same weights for every split of a batch, and none in prediction", "[nn]") {
  using net = nn::sequential<nn::input<5, 4>, nn::multi_head_attention<4, 2, nn::attention_dropout<std::ratio<1, 2>>>>;
  using run = dp::runtime::engine<net, float, dp::backend::cpu>;
  constexpr int place[] = {0};
  const auto state = nn::detail::drawn_state<net, float, dp::backend::cpu>(place, 3);
  std::vector<float> x(6 * 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 20 * 7 % 11) / 4;  // all samples are equal
  const auto outputs = [&](std::size_t first, std::size_t count, nn::mode how, std::size_t step) {
    std::vector<float> workspace(run::workspace_bytes(count, how) / sizeof(float));
    const auto p = run::make_pass(state->replicas.front(), workspace.data(), count, how, {9, step, 0, first});
    run::forward(p, x.data() + first * 20);
    return std::vector<float>(run::output_of(p), run::output_of(p) + count * 20);
  };
  auto parts = outputs(0, 1, nn::mode::train, 2);
  for (const float y : outputs(1, 5, nn::mode::train, 2)) parts.push_back(y);
  const auto whole = outputs(0, 6, nn::mode::train, 2);
  CHECK(parts == whole);
  CHECK(outputs(0, 6, nn::mode::train, 3) != whole);
  CHECK(!std::equal(whole.begin(), whole.begin() + 20, whole.begin() + 20));
  const auto predicted = outputs(0, 6, nn::mode::predict, 2);
  CHECK(std::equal(predicted.begin(), predicted.begin() + 100, predicted.begin() + 20));
}

TEST_CASE("attention memory grows linearly with the length", "[nn]") {
  // Per position: saved and scratch, 4 x 32 + 4 and half of 32 more; output, which its gradient overwrites, and two
  // other gradients; and a loss.
  STATIC_REQUIRE(activations_of<128> == 2 * 128 * (2 * 132 + 16 + 3 * 32 + 1) * sizeof(float));
  STATIC_REQUIRE(activations_of<4096> == 32 * activations_of<128>);
}
