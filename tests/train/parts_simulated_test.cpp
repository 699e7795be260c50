// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks with named layers, frozen parts, branches, and groups with their own learning rate or without decay train
// like PyTorch's with parameter groups.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using fc0 = nn::named<"fc0", nn::frozen<nn::linear<6, 8>>>;
using fc1 = nn::named<"fc1", nn::learning_rate_times<std::ratio<1, 10>, nn::linear<8, 8>>>;
using middle = nn::named<"middle", nn::frozen<nn::sequential<nn::linear<8, 8>, nn::relu, nn::layer_norm<8>>>>;
using block = nn::named<"block", nn::residual<nn::projected_by<nn::named<"downsample", nn::linear<8, 5>>>,
                                              nn::named<"fc", nn::linear<8, 5>>, nn::relu>>;
using branches = nn::concat_of<nn::identity, nn::sum_of<nn::tanh, nn::named<"branch", nn::linear<5, 5>>>>;
using net = nn::sequential<fc0, nn::tanh, fc1, nn::tanh, middle, block, branches, nn::named<"last", nn::linear<10, 3>>>;
using matrix_decay = dp::optim::decay_of_matrices<dp::optim::adamw>;

constexpr std::size_t frozen = 48 + 16 + 64 + 3 * 16;  // fc0 and middle, padded to multiples of 16

template <class Model> auto all_values(const Model& model) {
  std::vector<typename Model::value_type> all;
  dp::to<dp::on<dp::cpu>>(model).for_each_parameter(
      [&](const std::string&, auto values) { all.insert(all.end(), values.data(), values.data() + values.size()); });
  return all;
}

/// Trains 200 steps with clipping; checks that the optimizer's memory matches the plan.
template <class Where, class T, class Policy = dp::collective::all_reduce<>> void train_as_pytorch(double tolerance) {
  constexpr std::size_t batch = 8;
  const std::string folder = std::string("groups/training/") + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto read = [&]<class Extents>(const std::string& file, Extents) {
    return dp::test::read_fixture<T, Extents>(folder + file);
  };
  const auto samples = read("samples", dp::extents<dp::dyn, 6>{});
  const auto losses = read("losses", dp::extents<200>{});
  const auto start = read("start", dp::extents<dp::dyn>{}), end = read("end", dp::extents<dp::dyn>{});
  const auto labels = dp::test::read_fixture<std::int64_t, dp::extents<dp::dyn>>("groups/training/labels");

  dp::model<net, dp::on<dp::cpu>, T> initial{dp::seed{1}};
  const T* next = start.data();
  initial.for_each_parameter([&](const std::string&, auto values) {
    std::copy_n(next, values.size(), values.data());
    next += values.size();
  });
  auto model = dp::to<Where>(initial);
  const dp::optim::decay_of_matrices rule{dp::optim::adamw{.learning_rate = 0.02, .weight_decay = 0.1}};
  dp::trainer step{model, nn::cross_entropy{}, rule, Policy{}};
  step.clip({.max_norm = 0.5});
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(samples.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    INFO("step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses(i))).epsilon(tolerance).margin(tolerance));
  }
  const auto found = all_values(model);
  REQUIRE(found.size() == end.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(static_cast<double>(found[i]) == Catch::Approx(static_cast<double>(end.data()[i])).margin(10 * tolerance));
  // Compares the frozen parameters with PyTorch's: fc0, and middle, which comes after fc0 and fc1.
  const auto same = [&](std::size_t from, std::size_t to) {
    return std::equal(&found[from], &found[to], start.data() + from);
  };
  CHECK(same(0, 56));
  CHECK_FALSE(same(56, 128));
  CHECK(same(128, 216));
}

}  // namespace

TEST_CASE("200 steps of a network with frozen parts, groups and branches agree with PyTorch", "[train]") {
  train_as_pytorch<dp::on<dp::cpu>, float>(2e-4);
  train_as_pytorch<dp::replicated<2, 0, 1>, double>(1e-9);
  train_as_pytorch<dp::replicated<2, 0, 1>, double, dp::collective::sharded_all_reduce<>>(1e-9);
}

TEST_CASE("a layer's name replaces its position in the names of parameters", "[train]") {
  CHECK(dp::model<net, dp::on<dp::cpu>>::parameter_names() ==
        std::vector<std::string>{"fc0.weight", "fc0.bias", "fc1.weight", "fc1.bias", "middle.0.weight", "middle.0.bias",
                                 "middle.2.weight", "middle.2.bias", "block.fc.weight", "block.fc.bias",
                                 "block.downsample.weight", "block.downsample.bias", "6.1.branch.weight",
                                 "6.1.branch.bias", "last.weight", "last.bias"});
}

TEST_CASE("frozen parameters have no gradients and no state, and the plan is exact to the byte", "[train]") {
  dp::detail::gemm_prepare();
  using model_type = dp::model<net, dp::on<dp::cpu>>;
  using plan = dp::memory_plan<model_type, dp::batch<16>, matrix_decay>;
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, matrix_decay{}};
  step.prepare(16);
  CHECK(dp::memory_statistics<dp::cpu>().allocated - before == plan::bytes);
  constexpr std::size_t trained = plan::parameters / sizeof(float) - frozen;
  STATIC_REQUIRE(plan::frozen == frozen * sizeof(float));
  STATIC_REQUIRE(plan::gradients == (trained + dp::runtime::gradient_tail) * sizeof(float));
  // Moments, a table with one byte per 16 elements, and options of the groups: fc1 or others, with or without decay.
  STATIC_REQUIRE(plan::optimizer_state ==
                 2 * trained * sizeof(float) + trained / 16 + 4 * dp::optim::step_memory_bytes);
  STATIC_REQUIRE(model_type::parameter_count() == 72 + 2 * 45 + 30 + 33);
}

TEST_CASE("gradients behind and in front of frozen parts agree with finite differences", "[train]") {
  CHECK(nn::check_gradients<net>(dp::seed{2}).worst < 1e-7);
}
