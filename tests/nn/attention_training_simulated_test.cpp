// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small transformer follows PyTorch step by step on the CPU and on several devices.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/attention.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::input<6>, nn::embedding<11, 8>, nn::positional_embedding<6, 8>,
                           nn::residual<nn::layer_norm<8>, nn::multi_head_attention<8, 2, nn::causal>>,
                           nn::residual<nn::layer_norm<8>, nn::linear<8, 16>, nn::gelu, nn::linear<16, 8>>,
                           nn::layer_norm<8>, nn::linear<8, 11>>;

/// The fixture's integers, one sequence per row.
template <class T> auto sequences(const std::string& name) {
  const auto read = dp::test::read_fixture<std::int64_t, dp::extents<dp::dyn, 6>>("attention/training/" + name);
  dp::tensor<T, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>> result(read.extents());
  std::transform(read.data(), read.data() + read.size(), result.data(),
                 [](std::int64_t i) { return static_cast<T>(i); });
  return result;
}

template <class Where, class T> void train_as_pytorch(double tolerance) {
  constexpr std::size_t steps = 200, batch = 8;
  const std::string folder = std::string("attention/training/") + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto samples = sequences<std::int32_t>("samples");
  const auto labels = sequences<std::int64_t>("labels");
  const auto losses = dp::test::read_all<T, dp::extents<steps>>(folder + "losses");
  const auto start = dp::test::read_all<T, dp::dextents<1>>(folder + "start");
  const auto end = dp::test::read_all<T, dp::dextents<1>>(folder + "end");

  dp::model<net, dp::on<dp::cpu>, T> initial{dp::seed{1}};
  std::vector<std::string> names;
  std::size_t at = 0;
  initial.for_each_parameter([&](const std::string& name, auto parameter) {
    names.push_back(name);
    REQUIRE(at + parameter.size() <= start.size());
    std::copy_n(start.data() + at, parameter.size(), parameter.data());
    at += parameter.size();
  });
  REQUIRE(at == start.size());
  CHECK(std::find(names.begin(), names.end(), "3.1.in_proj_weight") != names.end());
  CHECK(std::find(names.begin(), names.end(), "3.1.out_proj.bias") != names.end());

  auto model = dp::to<Where>(initial);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.02, .momentum = 0.9}};
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(samples.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    INFO("step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses[i])).epsilon(tolerance).margin(tolerance));
  }
  at = 0;
  const auto after = dp::to<dp::on<dp::cpu>>(model);
  after.for_each_parameter([&](const std::string& name, auto found) {
    INFO(name);
    for (std::size_t i = 0; i < found.size(); ++i, ++at)
      REQUIRE(static_cast<double>(found.data()[i]) ==
              Catch::Approx(static_cast<double>(end[at])).margin(10 * tolerance));
  });
}

}  // namespace

TEST_CASE("200 steps of a transformer agree with PyTorch", "[nn]") {
  train_as_pytorch<dp::on<dp::cpu>, float>(1e-5);
  train_as_pytorch<dp::replicated<2, 0, 1>, double>(1e-10);
}
