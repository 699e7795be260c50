// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks with a label for each token of a sequence: a loader's batches of integers, training, accuracy.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::parameters_of;

namespace {

constexpr std::size_t samples = 60, length = 4, tokens = 7;
using net = nn::sequential<nn::input<length>, nn::embedding<tokens, 8>,
                           nn::residual<nn::multi_head_attention<8, 2, nn::causal>>, nn::linear<8, tokens>>;

template <class T> using sequences = dp::tensor<T, dp::extents<samples, length>, dp::on<dp::cpu>>;

/// Sequences in which a token's label depends on the token and on its predecessor.
struct data {
  sequences<std::int32_t> x{dp::extents<samples, length>{}};
  sequences<std::uint8_t> y{dp::extents<samples, length>{}};

  data() {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<std::int32_t>(i * i * 31 % 11 % tokens);
    for (std::size_t i = 0; i < samples; ++i)
      for (std::size_t k = 0; k < length; ++k)
        y(i, k) = static_cast<std::uint8_t>((x(i, k) + (k == 0 ? 0 : x(i, k - 1))) % static_cast<int>(tokens));
  }
};

struct outcome {
  std::vector<double> parameters;
  double accuracy;
};

template <class Where> outcome train(const data& all) {
  dp::model<net, Where, double> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.02}};
  auto batches = dp::make_loader<Where, double>(all.x, all.y, {.batch = 16, .shuffle = dp::seed{2}});
  for (int epoch = 0; epoch < 40; ++epoch)
    for (const auto& [x, y] : batches.epoch(epoch)) step(x, y);
  const auto parameters = parameters_of(model, 0);
  return {{parameters.begin(), parameters.end()}, dp::accuracy(model, batches.epoch(0))};
}

}  // namespace

TEST_CASE("a loader's batches of tokens train the same network on the CPU and on devices", "[train]") {
  const data all;
  const outcome expected = train<dp::on<dp::cpu>>(all);
  CHECK(expected.accuracy > 0.9);
  const auto compare = [&](const outcome& other) {
    REQUIRE(other.parameters.size() == expected.parameters.size());
    // The gradient of the keys' bias is 0 except for rounding, which Adam enlarges by up to 1 / epsilon.
    for (std::size_t i = 0; i < expected.parameters.size(); ++i)
      CHECK(other.parameters[i] == Catch::Approx(expected.parameters[i]).epsilon(1e-9).margin(1e-8));
    CHECK(other.accuracy == expected.accuracy);
  };
  compare(train<dp::replicated<2, 0, 1>>(all));
}

TEST_CASE("accuracy is the fraction of correct labels over all tokens", "[train]") {
  const data all;
  const dp::model<net, dp::on<dp::cpu>, double> one{dp::seed{3}};
  const dp::model<net, dp::replicated<2, 0, 1>, double> three{dp::seed{3}};
  const auto logits = one.predict(all.x);
  for (std::size_t top : {std::size_t{1}, std::size_t{3}}) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < samples; ++i)
      for (std::size_t k = 0; k < length; ++k) {
        std::size_t before = 0;
        for (std::size_t c = 0; c < tokens; ++c) before += logits(i, k, c) > logits(i, k, all.y(i, k)) ? 1U : 0U;
        right += before < top ? 1U : 0U;
      }
    const double expected = static_cast<double>(right) / (samples * length);
    CHECK(expected > 0);
    CHECK(expected < 1);
    for (const std::size_t batch : {std::size_t{7}, std::size_t{60}}) {
      auto on_cpu = dp::make_loader<dp::on<dp::cpu>, double>(all.x, all.y, {.batch = batch});
      auto on_three = dp::make_loader<dp::replicated<2, 0, 1>, double>(all.x, all.y, {.batch = batch});
      CHECK(dp::accuracy(one, on_cpu.epoch(0), {.top = top}) == expected);
      CHECK(dp::accuracy(three, on_three.epoch(0), {.top = top}) == expected);
      const dp::accuracy_options without_zero{.top = top, .ignore_index = 0};
      CHECK(dp::accuracy(one, on_cpu.epoch(0), without_zero) != expected);
      CHECK(dp::accuracy(three, on_three.epoch(0), without_zero) == dp::accuracy(one, on_cpu.epoch(0), without_zero));
    }
  }
  const dp::tensor<std::uint8_t, dp::dextents<2>, dp::on<dp::cpu>> short_of_labels(
      dp::dextents<2>{samples, length - 1});
  auto wrong = dp::make_loader<dp::on<dp::cpu>, double>(all.x, short_of_labels, {.batch = 7});
  CHECK_THROWS_WITH(dp::accuracy(one, wrong.epoch(0)), Catch::Matchers::ContainsSubstring("accuracy: the output is"));
}

TEST_CASE("the memory plan covers accuracy with one label per token", "[train]") {
  const data all;
  using model_type = dp::model<net, dp::on<dp::cpu>, double>;
  const model_type model{dp::seed{3}};
  auto batches = dp::make_loader<dp::on<dp::cpu>, double>(all.x, all.y, {.batch = samples});
  static_cast<void>(dp::accuracy(model, batches.epoch(0)));  // the model keeps the workspace
  dp::reset_peak_memory<dp::cpu>();
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  static_cast<void>(dp::accuracy(model, batches.epoch(0)));
  CHECK(dp::memory_statistics<dp::cpu>().peak - before == dp::memory_plan<model_type, dp::batch<samples>>::accuracy);
}
