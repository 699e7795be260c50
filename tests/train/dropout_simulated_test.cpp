// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout keys its draws by a sample's index in the whole batch: one device and any number of replicas drop the same
// elements for any split. The probabilities give factors of 2 and 4, which are exact.

#include <algorithm>
#include <cstddef>
#include <ratio>
#include <utility>
#include <vector>

#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 4>, nn::relu, nn::dropout<std::ratio<1, 2>>, nn::linear<4, 4>,
                           nn::dropout<std::ratio<3, 4>>>;
using cpu = dp::on<dp::cpu>;
using one = dp::on<dp::cuda<2>>;
using three = dp::replicated<2, 0, 1>;
template <class Where> using model_of = dp::model<net, Where, double>;

const std::vector<std::size_t> batch_sizes{12, 1, 3, 0, 25, 2, 64, 7};

auto samples(std::size_t rows) { return dp::test::integer_samples<double, 6>(rows); }
/// Zero targets: the gradients equal the outputs, masked again and doubled.
auto targets(std::size_t rows) {
  dp::tensor<double, dp::extents<dp::dyn, 4>, cpu> y(dp::extents<dp::dyn, 4>{rows});
  std::fill(y.data(), y.data() + y.size(), 0.0);
  return y;
}

/// All elements in order, for any placement.
template <class X> std::vector<double> whole(const X& x) {
  if constexpr (dp::single_place<typename X::placement_type>)
    return dp::test::values_of(dp::detail::as_view(x).erased());
  else
    return whole(dp::gather<one>(x));
}

/// Outputs of training passes on batches of several sizes, then of a prediction.
template <class Where, class... Split> std::vector<std::vector<double>> outputs(const Split&... split) {
  model_of<Where> model{dp::seed{5}};
  dp::test::set_integer_parameters(model);
  std::vector<std::vector<double>> all;
  for (const std::size_t rows : batch_sizes)
    all.push_back(whole(model.forward(distribute<Where>(samples(rows), split...)).output));
  all.push_back(whole(model.predict(distribute<Where>(samples(12), split...))));
  return all;
}

/// Losses and parameters after each of several steps.
struct run {
  std::vector<double> losses;
  std::vector<std::vector<double>> parameters;
};

template <class Where, std::size_t Batches, class... Split> run train(const Split&... split) {
  model_of<Where> model{dp::seed{5}};
  dp::trainer step{model, nn::mse{.reduce = dp::reduction::sum}, dp::optim::sgd{.learning_rate = 1.0 / 64},
                   dp::accumulate<Batches>{}};
  run result;
  for (const std::size_t rows : batch_sizes) {
    // Parameters start as integers, or integers plus multiples of a power of two, so that all sums are exact.
    if (result.losses.size() % Batches == 0) dp::test::set_integer_parameters(model);
    result.losses.push_back(
        step(distribute<Where>(samples(rows), split...), distribute<Where>(targets(rows), split...)).item());
    dp::check_replicas(model);
    result.parameters.push_back(parameters_of(model));
  }
  return result;
}

void check_same(const run& found, const run& expected) {
  CHECK(found.losses == expected.losses);
  CHECK(found.parameters == expected.parameters);
}

std::size_t zeros_in(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0));
}

}  // namespace

TEST_CASE("replicas drop the same elements as one device, for any split", "[train]") {
  const auto expected = outputs<one>();
  CHECK(outputs<three>() == expected);
  CHECK(outputs<three>(dp::split::torch) == expected);
  // Training drops three quarters or more, with new draws in each pass; prediction drops nothing.
  CHECK(zeros_in(expected[6]) > 64 * 4 / 2);
  CHECK(zeros_in(expected.back()) < 12);
  model_of<one> model{dp::seed{5}};
  const auto x = distribute<one>(samples(25));
  CHECK(whole(model.forward(x).output) != whole(model.forward(x).output));
}

TEST_CASE("explicit split sizes do not change the dropped elements", "[train]") {
  model_of<one> single{dp::seed{6}};
  model_of<three> several{dp::seed{6}};
  dp::test::set_integer_parameters(single);
  dp::test::set_integer_parameters(several);
  for (const auto& sizes :
       {dp::split::sizes{4, 4, 4}, dp::split::sizes{0, 12, 0}, dp::split::sizes{1, 0, 11}, dp::split::sizes{9, 2, 1}})
    CHECK(whole(several.forward(distribute<three>(samples(12), sizes)).output) ==
          whole(single.forward(distribute<one>(samples(12))).output));
}

TEST_CASE("training with dropout is bitwise equal on one device and on replicas", "[train]") {
  const run expected = train<one, 1>();
  check_same(train<three, 1>(), expected);
  check_same(train<three, 1>(dp::split::torch), expected);
  CHECK(expected.parameters[0] != expected.parameters[4]);
}

TEST_CASE("training with dropout is bitwise equal with accumulated batches", "[train]") {
  const run expected = train<one, 3>();
  check_same(train<three, 3>(), expected);
  check_same(train<three, 3>(dp::split::torch), expected);
}
