// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <devplace/memory/statistics.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using support::values_of;

namespace {

using host = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<6, 40>, nn::batch_norm<40>, nn::tanh, nn::linear<40, 3>>;
using model_type = dp::model<net, host>;
using inputs = dp::extents<dp::dyn, 6>;
using outputs = dp::extents<dp::dyn, 3>;

auto samples(std::size_t rows) { return dp::uniform<float, host>(inputs{rows}, dp::seed{5}, -1.0F, 1.0F); }

std::size_t allocated() { return dp::memory_statistics<dp::cpu>().allocated; }

/// A model after one training step, so that it has gradients and modified buffers.
model_type trained() {
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
  step(samples(16), dp::uniform<float, host>(outputs{16}, dp::seed{6}, -1.0F, 1.0F));
  return model;
}

}  // namespace

TEST_CASE("a predictor predicts like the model from which it was copied or made", "[nn]") {
  auto model = trained();
  const auto x = samples(700);
  const auto expected = values_of(model.predict(x));
  const dp::predictor copied{model, dp::batch<64>{}};
  CHECK(values_of(copied.predict(x)) == expected);
  CHECK(values_of(copied(x)) == expected);
  CHECK(values_of(copied.predict(2.0F * x - x)) == expected);
  CHECK(values_of(model(dp::cast<float>(dp::cast<double>(x)))) == expected);
  model.parameter<0>()(0, 0) += 1;
  CHECK(values_of(copied.predict(x)) == expected);
  dp::predictor assigned{model_type{dp::seed{9}}, dp::batch<1000>{}};
  assigned.assign(copied.as_model());
  CHECK(values_of(assigned.predict(x)) == expected);
  const auto changed = values_of(model.predict(x));
  const dp::predictor made{std::move(model), dp::batch<64>{}};
  CHECK(values_of(made.predict(x)) == changed);
}

TEST_CASE("a predictor's memory matches the plan to the byte", "[nn]") {
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  using predictor_type = dp::predictor<net, host>;
  using plan = dp::memory_plan<predictor_type, dp::batch<300>>;
  STATIC_REQUIRE(plan::bytes == dp::memory_plan<model_type, dp::batch<300>>::bytes + 300 * 6 * sizeof(float) + 32);
  const std::size_t before = allocated();
  std::optional<model_type> model = trained();
  std::optional<predictor_type> p(std::in_place, *model, dp::batch<300>{});
  model.reset();
  CHECK(allocated() - before == plan::bytes);
  p.emplace(trained(), dp::batch<300>{});  // takes the model's memory, and frees its gradients
  CHECK(allocated() - before == plan::bytes);
}

TEST_CASE("a predictor copies a model whose trainer continues", "[nn]") {
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
  const auto x = samples(16);
  const auto targets = dp::uniform<float, host>(outputs{16}, dp::seed{6}, -1.0F, 1.0F);
  const auto expected = values_of(model.predict(x));
  const dp::predictor p{std::move(model), dp::batch<16>{}};
  step(x, targets);
  CHECK(values_of(p.predict(x)) == expected);
}

TEST_CASE("accuracy accepts predictors, and its memory is planned", "[nn]") {
  using plan = dp::memory_plan<dp::predictor<net, host>, dp::batch<50>>;
  model_type model = trained();
  const dp::predictor p{model, dp::batch<50>{}};
  const auto x = samples(120);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, host> labels(dp::extents<dp::dyn>{120});
  for (std::size_t i = 0; i < 120; ++i) labels(i) = static_cast<std::int64_t>(i % 3);
  auto batches = dp::make_loader<host>(x, labels, {.batch = 50});
  const double expected = dp::accuracy(model, batches.epoch(0));
  dp::reset_peak_memory<dp::cpu>();
  const std::size_t before = allocated();
  CHECK(dp::accuracy(p, batches.epoch(0)) == expected);
  CHECK(dp::memory_statistics<dp::cpu>().peak - before == plan::accuracy);
}
