// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A batch replicated like the model: each place computes the whole batch with the same bits.
#include <cmath>
#include <cstddef>
#include <ratio>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::copies_of;
using dp::test::parameters_of;
using dp::test::values_of;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<3, 10>>, nn::linear<8, 3>>;
using where = dp::replicated<2, 0, 1>;
constexpr std::size_t sizes[] = {9, 1, 2, 0, 64};

/// Losses and parameters of place k after Adam steps on one or several places.
template <class Where, class Loss, class Target> auto train(const Loss& loss, const Target& target) {
  dp::model<net, Where> model{dp::seed{9}};
  dp::optimizer optimizer{model, dp::optim::adam{.learning_rate = 0.01}};
  std::vector<float> losses;
  for (const std::size_t rows : sizes) {
    const auto x = copies_of<Where>(dp::test::integer_samples<float, 6>(rows));
    auto [output, saved] = model.forward(x);
    auto [value, gradient] = loss(output, copies_of<Where>(target(rows)));
    losses.push_back(value.item());
    optimizer.step(model, model.backward(std::move(saved), gradient));
  }
  return std::pair{losses, std::move(model)};
}

template <class Loss, class Target> void check_against_one_place(const Loss& loss, const Target& target) {
  const auto [expected, one] = train<dp::on<dp::cuda<1>>>(loss, target);
  const auto [losses, several] = train<where>(loss, target);
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK((losses[i] == expected[i] || (std::isnan(losses[i]) && std::isnan(expected[i]))));
  for (std::size_t k = 0; k < 3; ++k) CHECK(parameters_of(several, k) == parameters_of(one));
}

}  // namespace

TEST_CASE("training on replicated batches equals training on one place, bitwise on every place", "[nn]") {
  const auto labels = [](std::size_t rows) { return dp::test::square_labels(rows, 3); };
  check_against_one_place(nn::cross_entropy{}, labels);
  check_against_one_place(nn::cross_entropy{.ignore_index = 1, .class_weights = {1, 2, 0.5}}, labels);
  check_against_one_place(nn::cross_entropy{.reduce = dp::reduction::sum}, labels);
  check_against_one_place(nn::mse{}, [](std::size_t rows) { return dp::test::integer_samples<float, 3>(rows); });
}

TEST_CASE("outputs, sums and gradients of a replicated batch are replicated", "[nn]") {
  dp::model<net, where> model{dp::seed{2}};
  const auto x = copies_of<where>(dp::test::integer_samples<float, 6>(5));
  const auto y = copies_of<where>(dp::test::square_labels(5, 3));
  const auto predicted = model.predict(x);
  STATIC_REQUIRE(
      std::is_same_v<std::remove_const_t<decltype(predicted)>, dp::tensor<float, dp::extents<dp::dyn, 3>, where>>);
  const dp::model<net, dp::on<dp::cpu>> one{dp::seed{2}};
  const auto expected = values_of(one.predict(dp::test::integer_samples<float, 6>(5)));
  auto [output, saved] = model.forward(x);
  STATIC_REQUIRE(std::is_same_v<decltype(output)::placement_type, where>);
  auto [loss, gradient] = nn::cross_entropy{}(output, y);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(loss.sums())>, dp::tensor<float, dp::extents<2>, where>>);
  const auto whole = model.backward(std::move(saved), gradient);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(whole)>, dp::gradients<net, where, float>>);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(values_of(predicted.local(k)) == expected);
    CHECK(values_of(output.local(k)) == values_of(output.local(0)));  // dropout draws the same numbers
    CHECK(values_of(loss.sums().local(k))[1] == 5);
    CHECK(values_of(whole.local<0>(k)) == values_of(whole.local<0>(0)));
    CHECK(values_of(whole.local<3>(k)) == values_of(whole.local<3>(0)));
  }
}

TEST_CASE("gradients of replicated batches add up, also to gradients from synchronize", "[nn]") {
  using plain = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
  dp::model<plain, where, double> model{dp::seed{2}};
  const auto samples = dp::test::integer_samples<double, 6>(7);
  const auto labels = dp::test::square_labels(7, 3);
  const auto x = copies_of<where>(samples);
  const auto y = copies_of<where>(labels);
  const auto parts = dp::scatter<dp::batch_placement_t<where>>(samples);
  const auto label_parts = dp::scatter<dp::batch_placement_t<where>>(labels);
  auto first = model.forward(parts);
  auto whole =
      dp::synchronize(model.backward(std::move(first.saved), nn::cross_entropy{}(first.output, label_parts).gradient));
  const auto once = values_of(whole.local<0>());
  auto second = model.forward(x);
  const auto twice =
      model.backward(std::move(second.saved), nn::cross_entropy{}(second.output, y).gradient, std::move(whole));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto sums = values_of(twice.local<0>(k));
    for (std::size_t i = 0; i < sums.size(); ++i)
      CHECK(sums[i] == Catch::Approx(2 * once[i]).epsilon(1e-12).margin(1e-14));
  }
}

TEST_CASE("a failure in a loss names the first replica and clears all failures", "[nn]") {
  dp::model<nn::linear<6, 3>, where> model{dp::seed{2}};
  const auto x = copies_of<where>(dp::test::integer_samples<float, 6>(4));
  auto labels = dp::test::square_labels(4, 3);
  const auto good = copies_of<where>(labels);
  labels(1) = 17;
  const auto bad = copies_of<where>(labels);
  const auto output = model.predict(x);
  CHECK_THROWS_AS(dp::test::throwing_cross_entropy{}(output, bad), dp::argument_error);
  CHECK_THROWS_WITH(dp::test::throwing_cross_entropy{}(output, bad),
                    Catch::Matchers::StartsWith("devplace: replica 0 of 3 (cuda:2): cross_entropy"));
  auto one_bad = copies_of<where>(dp::test::square_labels(4, 3));
  dp::copy(one_bad.only_on(2), labels);
  CHECK_THROWS_WITH(dp::test::throwing_cross_entropy{}(output, one_bad),
                    Catch::Matchers::StartsWith("devplace: replica 2 of 3 (cuda:1): cross_entropy"));
  CHECK(std::isfinite(dp::test::throwing_cross_entropy{}(output, good).loss.item()));
}

TEST_CASE("an unusable model throws the reason, and can still be replaced", "[nn]") {
  dp::model<nn::linear<6, 3>, where> model{dp::seed{2}};
  const auto x = copies_of<where>(dp::test::integer_samples<float, 6>(4));
  model.state().unusable = "the update failed on cuda:1 only.";
  const auto text =
      Catch::Matchers::Equals("devplace: this model cannot be used any more: the update failed on cuda:1 only.");
  CHECK_THROWS_WITH(model.predict(x), text);
  CHECK_THROWS_WITH(model.forward(x), text);
  CHECK_THROWS_WITH(model.shared_state(), text);
  CHECK_THROWS_WITH(model.parameter<0>(), text);
  CHECK_THROWS_AS(model.state(), dp::error);
  model = dp::model<nn::linear<6, 3>, where>{dp::seed{3}};
  const auto predicted = model.predict(x);
  CHECK(values_of(predicted.local(1)) == values_of(predicted.local(0)));
}

TEST_CASE("every replica keeps the sums of its last loss, zero at the start", "[nn]") {
  dp::model<nn::linear<6, 3>, where, double> model{dp::seed{2}};
  for (const auto& r : model.state().replicas) {
    double sums[2] = {1, 1};
    dp::detail::copy_out<dp::backend::cuda>(r.ordinal, sums, r.loss_sums(), sizeof sums);
    CHECK((sums[0] == 0 && sums[1] == 0));
    CHECK(r.sums.bytes() == 64);
  }
}
