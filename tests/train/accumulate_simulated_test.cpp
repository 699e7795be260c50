// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An accumulation of k batches equals one step on all their samples: bitwise on integers, whose sums are exact.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 4>, nn::relu, nn::linear<4, 4>>;
using cpu = dp::on<dp::cpu>;
using three = dp::replicated<2, 0, 1>;
using all_reduce = collective::all_reduce<>;
using scatter_gather = collective::scatter_gather;

constexpr std::size_t most_rows = 80;
using batch_sizes = std::vector<std::size_t>;
using targets_type = dp::tensor<double, dp::extents<dp::dyn, 4>, cpu>;
using labels_type = dp::tensor<std::int64_t, dp::extents<dp::dyn>, cpu>;

/// Small integers as regression targets.
targets_type integer_targets() {
  targets_type y(dp::extents<dp::dyn, 4>{most_rows});
  for (std::size_t i = 0; i < most_rows; ++i)
    for (std::size_t j = 0; j < 4; ++j) y(i, j) = static_cast<double>((i + 2 * j) % 5) - 2;
  return y;
}
/// Three of the four classes; the first ten rows have only the class that is ignored.
labels_type labels() {
  auto y = dp::test::square_labels(most_rows, 4);
  for (std::size_t i = 0; i < 10; ++i) y(i) = 1;
  for (std::size_t i = 10; i < most_rows; ++i) y(i) = static_cast<std::int64_t>(i * i % 7 % 4);
  return y;
}
const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.25, .class_weights = {1, 8, 2, 0.5}};

enum class start { integers, zero };

/// The results of a training run.
struct result {
  std::vector<double> parameters;
  double mean_loss;
  double weight;  ///< the sum of the samples' weights behind the gradients
};

void check_same(const result& found, const result& expected) {
  CHECK(found.parameters == expected.parameters);
  CHECK(found.mean_loss == expected.mean_loss);
  CHECK(found.weight == expected.weight);
}

/// A model and its trainer, which can be restarted from the same parameters.
template <class Loss, class Where, class Policy, std::size_t Batches> class accumulated {
 public:
  explicit accumulated(const Loss& loss, start from = start::integers)
      : step_(model_, loss, dp::optim::sgd{.learning_rate = 0.125}, Policy{}, dp::accumulate<Batches>{}), from_(from) {}

  /// The result for consecutive batches of these sizes; calls flush() if their number does not end an accumulation.
  template <class Y, class... Split> result operator()(const batch_sizes& sizes, const Y& y, const Split&... split) {
    dp::test::set_integer_parameters(model_);
    if (from_ == start::zero) clear_parameters();
    step_.reset_mean_loss();
    const auto x = dp::test::integer_samples<double, 6>(most_rows);
    std::size_t first = 0;
    for (const std::size_t rows : sizes) {
      step_(distribute<Where>(x.slice(first, first + rows), split...),
            distribute<Where>(y.slice(first, first + rows), split...));
      first += rows;
    }
    CHECK(step_.flush() == (sizes.size() % Batches != 0));
    CHECK_FALSE(step_.flush());
    dp::check_replicas(model_);
    const double mean = step_.mean_loss();
    const auto& first_replica = model_.state().replicas[0];
    double weight = 0;
    dp::detail::copy_out<dp::placement_backend_t<Where>>(
        first_replica.ordinal, &weight,
        first_replica.gradient_data() + dp::runtime::network_plan<net>::parameter_elements, sizeof weight);
    return {parameters_of(model_), mean, weight};
  }

 private:
  void clear_parameters() {
    dp::model<net, dp::cpu, double> zeros{dp::seed{0}};
    zeros.for_each_parameter([](const std::string&, auto view) { view = 0; });
    model_.assign(zeros);
  }

  dp::model<net, Where, double> model_{dp::seed{1}};
  dp::trainer<dp::model<net, Where, double>, Loss, dp::optim::sgd, Policy, dp::accumulate<Batches>> step_;
  start from_;
};

batch_sizes together(const batch_sizes& sizes) { return {std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})}; }

/// Full batches, a smaller last one, fewer samples than places, no samples, and fewer batches than in one accumulation.
const std::vector<batch_sizes> batches_of_one_step{{4, 4, 4}, {16, 16, 5}, {1, 0, 64}, {0, 2, 1}, {12, 3}, {7}};

template <class Where, class Policy, std::size_t Batches> void check_integers() {
  accumulated<nn::mse, cpu, all_reduce, 1> one(nn::mse{});
  accumulated<nn::mse, Where, Policy, Batches> several(nn::mse{});
  const auto y = integer_targets();
  for (const auto& sizes : batches_of_one_step) {
    INFO(Catch::rangeToString(sizes));
    const auto expected = one(together(sizes), y);
    check_same(several(sizes, y), expected);
    if constexpr (!dp::single_place<Where>) check_same(several(sizes, y, dp::split::torch), expected);
  }
}

/// The mean loss after two accumulated batches with a reset in between, and the mean loss of the second batch alone.
template <class Where> void check_reset_between_batches() {
  const auto x = dp::test::integer_samples<double, 6>(16);
  const auto y = integer_targets();
  const auto mean_loss = [&](bool with_first) {
    dp::model<net, Where, double> model{dp::seed{1}};
    dp::test::set_integer_parameters(model);
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}, all_reduce{}, dp::accumulate<3>{}};
    if (with_first) step(distribute<Where>(x.slice(0, 8)), distribute<Where>(y.slice(0, 8)));
    step.reset_mean_loss();
    step(distribute<Where>(x.slice(8, 16)), distribute<Where>(y.slice(8, 16)));
    const double mean = step.mean_loss();
    CHECK(step.flush());
    return mean;
  };
  CHECK(mean_loss(true) == mean_loss(false));
}

}  // namespace

TEST_CASE("accumulated batches equal one step on all of their samples bitwise", "[train]") {
  check_integers<cpu, all_reduce, 3>();
  check_integers<three, scatter_gather, 4>();
  check_integers<three, all_reduce, 3>();
}

TEST_CASE("a reset of the mean loss between accumulated batches leaves out the earlier ones", "[train]") {
  check_reset_between_batches<cpu>();
  check_reset_between_batches<three>();
}

TEMPLATE_TEST_CASE("the mean loss of no samples is NaN, also if an update used samples of before the reset", "[train]",
                   cpu, three) {
  dp::model<net, TestType> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.01}, all_reduce{}, dp::accumulate<3>{}};
  const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 4>{7}, 0.1F);
  for (std::size_t i = 0; i < 8; ++i) {  // sums that are rounded in different ways
    for (std::size_t batch = 0; batch < 2; ++batch)
      step(distribute<TestType>(dp::uniform<float, cpu>(dp::extents<dp::dyn, 6>{7}, dp::seed{2 * i + batch})),
           distribute<TestType>(y));
    step.reset_mean_loss();
    step.flush();
    CHECK(std::isnan(step.mean_loss()));
  }
}

TEST_CASE("accumulation weights samples and classes, not batches", "[train]") {
  // All logits are 0, so each probability is a quarter and every sum is exact.
  accumulated<nn::cross_entropy, cpu, all_reduce, 1> one(weighted, start::zero);
  accumulated<nn::cross_entropy, cpu, all_reduce, 3> on_cpu(weighted, start::zero);
  accumulated<nn::cross_entropy, three, all_reduce, 3> on_three(weighted, start::zero);
  const auto y = labels();
  // All or almost all labels of the first batch are ignored.
  for (const auto& sizes : std::vector<batch_sizes>{{10, 10, 10}, {6, 8, 40}, {11, 0, 1}, {4, 30}}) {
    INFO(Catch::rangeToString(sizes));
    const auto expected = one(together(sizes), y);
    double weight = 0;
    for (std::size_t i = 0; i < together(sizes)[0]; ++i)
      if (y(i) != 1) weight += weighted.class_weights[static_cast<std::size_t>(y(i))];
    CHECK(expected.weight == weight);
    const auto check = [&](const auto& found) {
      CHECK(found.parameters == expected.parameters);
      CHECK(found.weight == weight);
      CHECK(found.mean_loss == Catch::Approx(expected.mean_loss).epsilon(1e-14));
    };
    check(on_cpu(sizes, y));
    check(on_three(sizes, y));
    check(on_three(sizes, y, dp::split::torch));
  }
}

TEST_CASE("accumulated batches agree with one step within rounding", "[train]") {
  accumulated<nn::cross_entropy, cpu, all_reduce, 1> one(weighted);
  accumulated<nn::cross_entropy, cpu, all_reduce, 3> on_cpu(weighted);
  accumulated<nn::cross_entropy, three, all_reduce, 3> on_three(weighted);
  const auto y = labels();
  for (const auto& sizes : batches_of_one_step) {
    if (together(sizes)[0] <= 10) continue;  // every label is ignored
    INFO(Catch::rangeToString(sizes));
    const auto expected = one(together(sizes), y);
    for (const auto& found : {on_cpu(sizes, y).parameters, on_three(sizes, y).parameters}) {
      double worst = 0;
      for (std::size_t i = 0; i < found.size(); ++i)
        worst = std::max(worst, std::abs(found[i] - expected.parameters[i]));
      CHECK(worst < 1e-13);
    }
  }
}

TEST_CASE("consecutive accumulations equal one step each, including state and momentum", "[train]") {
  const dp::optim::sgd rule{.learning_rate = 1.0 / 1024, .momentum = 0.5};
  dp::model<net, cpu, double> whole{dp::seed{1}};
  dp::model<net, three, double> parts{dp::seed{1}};
  dp::trainer step{whole, nn::mse{}, rule};
  dp::trainer accumulating{parts, nn::mse{}, rule, dp::accumulate<3>{}};
  const auto x = dp::test::integer_samples<double, 6>(most_rows);
  const auto y = integer_targets();
  for (std::size_t update = 1; update <= 5; ++update) {
    step(x.slice(0, 16 * update), y.slice(0, 16 * update));
    const std::size_t borders[] = {0, 3 * update, 4 * update, 16 * update};
    const auto before = parameters_of(parts, 1);
    for (std::size_t b = 0; b < 3; ++b) {
      CHECK(parameters_of(parts, 1) == before);
      accumulating(distribute<three>(x.slice(borders[b], borders[b + 1])),
                   distribute<three>(y.slice(borders[b], borders[b + 1])));
    }
    CHECK(accumulating.optimizer().steps() == static_cast<std::int64_t>(update));
    const auto expected = parameters_of(whole), found = parameters_of(parts, 1);
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == Catch::Approx(expected[i]).epsilon(1e-11).margin(1e-13));
  }
}

TEST_CASE("an exception in the middle of an accumulation restarts it, on the CPU too", "[train]") {
  dp::model<net, cpu, double> model{dp::seed{1}}, never_failed{dp::seed{1}};
  const dp::optim::sgd rule{.learning_rate = 0.125};
  dp::trainer step{model, dp::test::throwing_cross_entropy{weighted}, rule, dp::accumulate<3>{}};
  dp::trainer undisturbed{never_failed, weighted, rule, dp::accumulate<3>{}};
  const auto x = dp::test::integer_samples<double, 6>(most_rows);
  auto y = labels();
  const auto before = parameters_of(model);
  step(x, y);
  step(x, y);
  y(40) = 17;
  CHECK_THROWS_WITH(step(x, y), Catch::Matchers::ContainsSubstring("cross_entropy: row 40 has the label 17"));
  CHECK_FALSE(step.flush());
  y = labels();
  CHECK_THROWS_AS(step(x, y.slice(0, 40)), dp::shape_error);
  CHECK(parameters_of(model) == before);
  for (int i = 0; i < 3; ++i) {
    CHECK(parameters_of(model) == before);
    step(x, y);
    undisturbed(x, y);
  }
  CHECK(parameters_of(model) == parameters_of(never_failed));
  CHECK(parameters_of(model) != before);
}
