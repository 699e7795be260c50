// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training on several places concurrently gives the same results as on one place, for all policies, engines and splits.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using by_ring_to_first = collective::reduce_and_broadcast<collective::ring>;
/// Every layer in its own bucket.
using in_buckets = collective::all_reduce<collective::direct, collective::buckets<1, 1>>;

using three = dp::replicated<2, 0, 1>;
using linear_net = nn::sequential<nn::linear<6, 4>, nn::linear<4, 2>>;

/// Small integers as regression targets.
dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> integer_targets(std::size_t rows) {
  dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 2>{rows});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < 2; ++j) y(i, j) = static_cast<double>((i + 2 * j) % 5) - 2;
  return y;
}

/// A model for which all sums are exact on integers, so that the order of summation has no effect.
template <class Where, class Policy> class exact_steps {
 public:
  /// The parameters after one step from the same start.
  template <class... Rule> std::vector<double> operator()(std::size_t rows, const Rule&... rule) {
    dp::test::set_integer_parameters(model_);
    step_(distribute<Where>(dp::test::integer_samples<double, 6>(rows), rule...),
          distribute<Where>(integer_targets(rows), rule...));
    dp::check_replicas(model_);
    return parameters_of(model_);
  }

 private:
  dp::model<linear_net, Where, double> model_{dp::seed{1}};
  dp::trainer<dp::model<linear_net, Where, double>, nn::mse, dp::optim::sgd, Policy> step_{
      model_, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}};
};

template <int Places, class... Policies> void check_exact() {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    exact_steps<dp::on<dp::cpu>, collective::all_reduce<>> one;
    std::tuple<exact_steps<dp::replicated<I...>, Policies>...> several;
    // Sanitizers run every third batch size, up to more than two samples per place.
    for (std::size_t rows = 1; rows <= (support::sanitized ? 22 : 64); rows += support::sanitized ? 3 : 1) {
      INFO(Places << " places, " << rows << " samples");
      const auto expected = one(rows);
      std::apply(
          [&](auto&... policy) {
            bool even = true;  // alternates the split rule between policies
            const auto check = [&](auto& steps) {
              CHECK((even ? steps(rows) : steps(rows, dp::split::torch)) == expected);
              even = !even;
            };
            (check(policy), ...);
          },
          several);
    }
  }(std::make_integer_sequence<int, Places>{});
}

using dropout_net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;

/// Losses and parameters of ten steps on batches of several sizes, including fewer samples than places and none.
struct run {
  std::vector<double> losses;
  std::vector<double> parameters;
};

template <class Where, class T, class Rule, class Policy, class... Split>
run train(const nn::cross_entropy& loss, const Rule& rule, const Policy& policy, const Split&... split) {
  dp::model<dropout_net, Where, T> model{dp::seed{9}};
  dp::trainer step{model, loss, rule, policy};
  step.clip({.max_norm = 0.5});
  run result;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 5, 13, 0, 33, 8}) {
    const auto x = distribute<Where>(dp::test::integer_samples<T, 6>(rows), split...);
    const auto y = distribute<Where>(dp::test::square_labels(rows, 3), split...);
    result.losses.push_back(static_cast<double>(step(x, y).item()));
    dp::check_replicas(model);
  }
  for (const T value : parameters_of(model)) result.parameters.push_back(static_cast<double>(value));
  return result;
}

void check_close(const run& a, const run& b, double tolerance) {
  REQUIRE(a.losses.size() == b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    INFO("step " << i);
    if (std::isnan(a.losses[i]))
      CHECK(std::isnan(b.losses[i]));
    else
      CHECK(a.losses[i] == Catch::Approx(b.losses[i]).epsilon(tolerance));
  }
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    CHECK(a.parameters[i] == Catch::Approx(b.parameters[i]).epsilon(tolerance).margin(tolerance));
}

const nn::cross_entropy plain{};
const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.1, .class_weights = {1, 2, 0.5}};
const nn::cross_entropy summed{.reduce = dp::reduction::sum};
const dp::optim::adam adam{.learning_rate = 0.01};

}  // namespace

TEST_CASE("a step on integers is exact for every batch size, split and policy, on two to nine places", "[train]") {
  check_exact<2, collective::scatter_gather>();
  check_exact<3, by_ring_to_first, in_buckets>();
  check_exact<9, collective::ring_all_reduce>();
}

TEST_CASE("replicas follow one device under every policy, engine and split, with dropout and clipping", "[train]") {
  for (const auto& loss : {plain, weighted, summed}) {
    const run one = train<dp::on<dp::cpu>, double>(loss, adam, collective::all_reduce{});
    check_close(train<three, double>(loss, adam, collective::all_reduce{}), one, 1e-9);
    check_close(train<three, double>(loss, adam, collective::scatter_gather{}), one, 1e-9);
    check_close(train<three, double>(loss, adam, by_ring_to_first{}, dp::split::torch), one, 1e-9);
    check_close(train<three, double>(loss, adam, in_buckets{}, dp::split::torch), one, 1e-9);
    const run in_float = train<dp::on<dp::cpu>, float>(loss, adam, collective::all_reduce{});
    check_close(train<dp::replicated<0, 1, 2, 3>, float>(loss, adam, collective::all_reduce{}), in_float, 1e-4);
  }
}

TEST_CASE("with the direct engine, all policies and buckets give the same bits", "[train]") {
  const run expected = train<three, double>(weighted, adam, collective::all_reduce{});
  CHECK(train<three, double>(weighted, adam, collective::scatter_gather{}).parameters == expected.parameters);
  CHECK(train<three, double>(weighted, adam, in_buckets{}).parameters == expected.parameters);
}

TEST_CASE("a step of replicas equals a weighted average over separate models bitwise", "[train]") {
  using where = three;
  using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
  const auto x = dp::test::integer_samples<float, 6>(11);
  const auto y = dp::test::square_labels(11, 3);
  dp::model<net, where> replicas{dp::seed{3}};
  dp::trainer step{replicas, weighted, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
  dp::model<net, dp::on<dp::cpu>> average{dp::seed{3}};
  dp::optimizer optimizer{average, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
  const std::size_t begins[] = {0, 4, 8, 11};
  for (int round = 0; round < 3; ++round) {
    step(distribute<where>(x), distribute<where>(y));
    // Runs each part of the batch through a separate model, and adds gradients and weights here.
    std::vector<std::vector<float>> sums;
    float weights = 0;
    dp::model<net, dp::on<dp::cpu>> separate{dp::seed{3}};
    for (std::size_t part = 0; part < 3; ++part) {
      std::size_t index = 0;
      separate.for_each_parameter([&](const std::string&, auto view) {
        std::size_t other = 0;
        average.for_each_parameter([&](const std::string&, auto from) {
          if (other++ != index) return;
          for (std::size_t i = 0; i < view.size(); ++i) view.data()[i] = from.data()[i];
        });
        ++index;
      });
      auto [output, saved] = separate.forward(x.slice(begins[part], begins[part + 1]));
      auto [loss, gradient] = weighted(output, y.slice(begins[part], begins[part + 1]));
      weights += loss.sums()(1);
      const auto lease = separate.backward(std::move(saved), gradient);
      const std::vector<std::vector<float>> of_part{
          dp::test::values_of(lease.local<0>()), dp::test::values_of(lease.local<1>()),
          dp::test::values_of(lease.local<2>()), dp::test::values_of(lease.local<3>())};
      if (part == 0) {
        sums = of_part;
      } else {
        for (std::size_t p = 0; p < 4; ++p)
          for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += of_part[p][i];
      }
    }
    // Passes these sums and the sum of weights, the divisor, to the optimizer of a model on the CPU.
    auto [output, saved] = average.forward(x);
    auto lease = average.backward(std::move(saved), weighted(output, y).gradient);
    const auto fill = [&](auto view, const std::vector<float>& values) {
      for (std::size_t i = 0; i < values.size(); ++i) view.data()[i] = values[i];
    };
    fill(lease.local<0>(), sums[0]);
    fill(lease.local<1>(), sums[1]);
    fill(lease.local<2>(), sums[2]);
    fill(lease.local<3>(), sums[3]);
    lease.arena().replicas[0].gradient_data()[dp::runtime::network_plan<net>::parameter_elements] = weights;
    optimizer.step(average, std::move(lease));
    REQUIRE(parameters_of(replicas, 0) == parameters_of(average));
    dp::check_replicas(replicas);
  }
}

TEST_CASE("batches may be split by explicit sizes that grow from step to step", "[train]") {
  using where = three;
  const auto x = dp::test::integer_samples<double, 6>(12);
  const auto y = dp::test::square_labels(12, 3);
  dp::model<dropout_net, dp::on<dp::cpu>, double> one{dp::seed{2}};
  dp::model<dropout_net, where, double> three{dp::seed{2}};
  dp::trainer step_of_one{one, weighted, adam};
  dp::trainer step_of_three{three, weighted, adam};
  for (const auto& sizes :
       {dp::split::sizes{4, 4, 4}, dp::split::sizes{1, 2, 9}, dp::split::sizes{0, 12, 0}, dp::split::sizes{10, 1, 1}}) {
    const double expected = step_of_one(x, y).item();
    CHECK(step_of_three(distribute<where>(x, sizes), distribute<where>(y, sizes)).item() ==
          Catch::Approx(expected).epsilon(1e-12));
  }
  CHECK_THROWS_WITH(
      step_of_three(distribute<where>(x, dp::split::sizes{1, 2, 9}), distribute<where>(y)),
      Catch::Matchers::ContainsSubstring("replica 0 of 3 (cuda:2): trainer: this place's part of the batch has 1 "
                                         "samples and 4 targets; split samples and targets in the same way."));
  CHECK(std::isfinite(step_of_three(distribute<where>(x), distribute<where>(y)).item()));
}

TEMPLATE_TEST_CASE("steps allocate nothing after prepare, and memory matches the plan", "[train]",
                   collective::all_reduce<>, by_ring_to_first) {
  using where = dp::replicated<0, 1>;
  using model_type = dp::model<dropout_net, where>;
  using plan = dp::memory_plan<model_type, dp::batch<64>, dp::optim::adam, TestType>;
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(64));
  const auto y = distribute<where>(dp::test::square_labels(64, 3));
  const std::size_t first = dp::memory_statistics<dp::cuda<0>>().allocated;
  const std::size_t second = dp::memory_statistics<dp::cuda<1>>().allocated;
  dp::reset_peak_memory<dp::cuda<0>>();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, TestType{}};
  step.prepare(64);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated - first == plan::bytes);
  // If only the first place updates, the others have no optimizer state.
  const std::size_t state = TestType::every_place_updates ? 0 : plan::optimizer_state;
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated - second == plan::bytes - state);
  const auto before = dp::memory_statistics<dp::cuda<0>>().allocations;
  for (int i = 0; i < 3; ++i) step(x, y);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocations == before);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated - first == plan::bytes);
  CHECK(dp::memory_statistics<dp::cuda<0>>().peak - first == plan::bytes);
}

TEST_CASE("two trainers train two models on two places of one process, each as if alone", "[train]") {
  const auto alone = [](auto where, std::uint64_t seed) {
    using place = decltype(where);
    dp::model<dropout_net, place> model{dp::seed{seed}};
    dp::trainer step{model, plain, adam};
    for (int i = 0; i < 5; ++i)
      step(distribute<place>(dp::test::integer_samples<float, 6>(9)), distribute<place>(dp::test::square_labels(9, 3)));
    return parameters_of(model);
  };
  using a = dp::on<dp::cuda<2>>;
  using b = dp::replicated<0, 1>;
  dp::model<dropout_net, a> first{dp::seed{5}};
  dp::model<dropout_net, b> second{dp::seed{6}};
  dp::trainer step_first{first, plain, adam};
  dp::trainer step_second{second, plain, adam};
  for (int i = 0; i < 5; ++i) {
    step_first(distribute<a>(dp::test::integer_samples<float, 6>(9)), distribute<a>(dp::test::square_labels(9, 3)));
    step_second(distribute<b>(dp::test::integer_samples<float, 6>(9)), distribute<b>(dp::test::square_labels(9, 3)));
  }
  CHECK(parameters_of(first) == alone(a{}, 5));
  CHECK(parameters_of(second) == alone(b{}, 6));
}
