// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A batch may be split over a replicated model's places by any rule: outputs and gradients have the same split.
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 4>, nn::linear<4, 3>>;
using where = dp::replicated<2, 0, 1>;
using host = dp::on<dp::cpu>;
constexpr std::size_t rows[] = {10, 1, 2, 0, 9, 64};

template <class Loss, class Targets, class... Rule>
void check_parts_of_a_step(const Loss& loss, const Targets& targets, const Rule&... rule) {
  dp::model<net, where> in_parts{dp::seed{3}}, planned{dp::seed{3}};
  dp::optimizer optimizer{in_parts, dp::optim::adam{.learning_rate = 0.01}};
  dp::trainer step{planned, loss, dp::optim::adam{.learning_rate = 0.01}};
  for (const std::size_t n : rows) {
    const auto x = distribute<where>(dp::test::integer_samples<float, 6>(n), rule...);
    const auto y = distribute<where>(targets(n), rule...);
    auto [output, saved] = in_parts.forward(x);
    auto [value, gradient] = loss(output, y);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(output.local(k).extent(0) == x.local(k).extent(0));
      CHECK(gradient.gradient.local(k).extent(0) == x.local(k).extent(0));
    }
    optimizer.step(in_parts, dp::synchronize(in_parts.backward(std::move(saved), gradient)));
    step(x, y);
    CHECK(parameters_of(in_parts) == parameters_of(planned));
    dp::check_replicas(in_parts);
  }
}

}  // namespace

TEST_CASE("predictions are split like the batch, and equal one place's", "[nn]") {
  dp::model<net, host, double> one{dp::seed{1}};
  dp::model<net, where, double> several{dp::seed{1}};
  dp::test::set_integer_parameters(one);
  dp::test::set_integer_parameters(several);
  const auto check = [&](std::size_t n, const auto& rule) {
    const auto x = dp::test::integer_samples<double, 6>(n);
    const auto parts = distribute<where>(x, rule);
    const auto output = several.predict(parts);
    for (std::size_t k = 0; k < 3; ++k) CHECK(output.local(k).extent(0) == parts.local(k).extent(0));
    const auto whole = dp::gather<host>(output), expected = one.predict(x);
    CHECK(dp::test::values_of(whole.view()) == dp::test::values_of(expected.view()));
  };
  for (const std::size_t n : rows) {
    check(n, dp::split::even);
    check(n, dp::split::torch);
    check(n, dp::split::sizes{std::size_t{0}, n / 3, n - n / 3});
  }
}

TEST_CASE("the parts of a step accept batches split by any rule, like the trainer", "[nn]") {
  const auto labels = [](std::size_t n) { return dp::test::square_labels(n, 3); };
  const auto numbers = [](std::size_t n) { return dp::test::integer_samples<float, 3>(n); };
  check_parts_of_a_step(nn::cross_entropy{}, labels, dp::split::torch);
  check_parts_of_a_step(nn::mse{}, numbers, dp::split::torch);
  check_parts_of_a_step(nn::cross_entropy{}, labels);
}

TEST_CASE("accuracy does not depend on how batches are split", "[nn]") {
  dp::model<net, host> one{dp::seed{1}};
  dp::model<net, where> several{dp::seed{1}};
  const auto x = dp::test::integer_samples<float, 6>(50);
  const auto y = dp::test::square_labels(50, 3);
  auto whole = dp::make_loader<host>(x, y, {.batch = 10});
  const double expected = dp::accuracy(one, whole.epoch(0));
  CHECK(expected > 0);
  for (const dp::split::rule rule : {dp::split::even, dp::split::torch}) {
    auto parts = dp::make_loader<where>(x, y, {.batch = 10, .split = rule});
    CHECK(dp::accuracy(several, parts.epoch(0)) == expected);
  }
}
