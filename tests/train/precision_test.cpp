// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using on_cpu = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<4, 8>, nn::relu, nn::residual<nn::linear<8, 8>, nn::relu>, nn::linear<8, 3>>;
using samples = dp::tensor<float, dp::extents<dp::dyn, 4>, on_cpu>;
using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu>;

struct data_set {
  samples x{dp::extents<dp::dyn, 4>{30}};
  labels y{dp::extents<dp::dyn>{30}};

  data_set() {
    for (std::size_t i = 0; i < 30; ++i) {
      y(i) = static_cast<std::int64_t>(i % 3);
      for (std::size_t j = 0; j < 4; ++j) x(i, j) = static_cast<float>((i * 7 + j * 5) % 11) / 8;
    }
  }
};

/// All parameters after training by the trainer and by single steps, and the accuracy.
template <class Precision> std::vector<double> trained() {
  const data_set data;
  dp::model<net, on_cpu, Precision> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  auto batches = dp::make_loader<on_cpu>(data.x, data.y, {.batch = 10});
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const auto& [x, y] : batches.epoch(epoch)) step(x, y);
  auto copy = dp::to<on_cpu>(model);
  dp::optimizer optimizer{copy, dp::optim::adam{}};
  auto [output, saved] = copy.forward(data.x);
  auto [loss, gradient] = nn::cross_entropy{}(output, data.y);
  optimizer.step(copy, dp::synchronize(copy.backward(std::move(saved), gradient)));
  std::vector<double> values{dp::accuracy(copy, batches.epoch(0))};
  copy.for_each_parameter([&values](const std::string&, const auto& parameter) {
    for (std::size_t i = 0; i < parameter.size(); ++i) values.push_back(parameter.data()[i]);
  });
  return values;
}

}  // namespace

TEST_CASE("a model in tf32 trains like one in float, bitwise where there is no TF32", "[train]") {
  const std::vector<double> values = trained<dp::tf32>();
  CHECK(values.size() > 1);
  CHECK(values == trained<float>());
}

TEST_CASE("models in tf32 and in float are distinct types over the same elements", "[train]") {
  using strict = dp::model<net, on_cpu>;
  using fast = dp::model<net, on_cpu, dp::tf32>;
  STATIC_REQUIRE(std::same_as<fast::value_type, float>);
  STATIC_REQUIRE(std::same_as<fast::precision_type, dp::tf32>);
  STATIC_REQUIRE(std::same_as<strict::precision_type, float>);
  STATIC_REQUIRE(!std::same_as<fast::gradient_type, strict::gradient_type>);
  using strict_plan = dp::memory_plan<strict, dp::batch<64>, dp::optim::adam>;
  using fast_plan = dp::memory_plan<fast, dp::batch<64>, dp::optim::adam>;
  STATIC_REQUIRE(fast_plan::bytes == strict_plan::bytes);
}
