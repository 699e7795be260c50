// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <ratio>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
template <int I> using model_on = dp::model<net, dp::on<dp::cuda<I>>>;

/// A trainer with its batch; sizes differ between places, to detect mix-ups.
template <int I> struct run {
  using where = dp::on<dp::cuda<I>>;
  explicit run(model_on<I>& model)
      : step(model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}),
        x(dp::to<where>(dp::test::integer_samples<float, 6>(rows))),
        y(dp::to<where>(dp::test::square_labels(rows, 3))) {}

  void once() { losses.push_back(step(x, y).item()); }

  static constexpr std::size_t rows = 20 + 13 * I;
  dp::trainer<model_on<I>, nn::cross_entropy, dp::optim::adam> step;
  dp::tensor<float, dp::extents<dp::dyn, 6>, where> x;
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, where> y;
  std::vector<float> losses;
};

constexpr int steps = 20;

/// Losses and parameters of a run without concurrent ones.
template <int I> auto alone() {
  model_on<I> model{dp::seed{5}};
  run<I> r(model);
  for (int i = 0; i < steps; ++i) r.once();
  return std::pair{r.losses, parameters_of(model)};
}

}  // namespace

TEST_CASE("replicate makes one independent model on each place", "[parallel]") {
  const dp::model<net, dp::on<dp::cpu>> source{dp::seed{5}};
  const auto expected = parameters_of(source);
  auto replicas = dp::replicate<dp::replicated<1, 0, 2>>(source);
  STATIC_REQUIRE(std::is_same_v<decltype(replicas), std::tuple<model_on<1>, model_on<0>, model_on<2>>>);
  CHECK(parameters_of(std::get<0>(replicas)) == expected);
  CHECK(parameters_of(std::get<1>(replicas)) == expected);
  CHECK(parameters_of(std::get<2>(replicas)) == expected);
  run<0> r(std::get<1>(replicas));
  r.once();
  CHECK(parameters_of(std::get<1>(replicas)) != expected);
  CHECK(parameters_of(std::get<0>(replicas)) == expected);
  CHECK(parameters_of(std::get<2>(replicas)) == expected);
  CHECK(parameters_of(source) == expected);
}

TEST_CASE("replicate accepts one place, and a replicated source", "[parallel]") {
  const dp::model<net, dp::replicated<0, 1>> source{dp::seed{5}};
  const auto [one] = dp::replicate<dp::on<dp::cpu>>(source);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(one)>, dp::model<net, dp::on<dp::cpu>>>);
  const auto [a, b] = dp::replicate<dp::replicated<3, 1>>(source);
  CHECK(parameters_of(one) == parameters_of(source));
  CHECK(parameters_of(a) == parameters_of(source));
  CHECK(parameters_of(b) == parameters_of(source));
}

TEST_CASE("two trainers on two places do not affect each other when their steps alternate", "[parallel]") {
  auto [first, second] = dp::replicate<dp::replicated<0, 1>>(dp::model<net, dp::on<dp::cpu>>{dp::seed{5}});
  run<0> a(first);
  run<1> b(second);
  for (int i = 0; i < steps; ++i) {
    a.once();
    b.once();
  }
  CHECK(std::pair{a.losses, parameters_of(first)} == alone<0>());
  CHECK(std::pair{b.losses, parameters_of(second)} == alone<1>());
  CHECK(a.losses != b.losses);
}

TEST_CASE("two trainers on two places do not affect each other in two threads", "[parallel]") {
  auto [first, second] = dp::replicate<dp::replicated<0, 1>>(dp::model<net, dp::on<dp::cpu>>{dp::seed{5}});
  std::vector<float> losses;
  std::thread other([&losses, &on_other = second] {
    run<1> b(on_other);
    for (int i = 0; i < steps; ++i) b.once();
    losses = b.losses;
  });
  run<0> a(first);
  for (int i = 0; i < steps; ++i) a.once();
  other.join();
  CHECK(std::pair{a.losses, parameters_of(first)} == alone<0>());
  CHECK(std::pair{losses, parameters_of(second)} == alone<1>());
}
