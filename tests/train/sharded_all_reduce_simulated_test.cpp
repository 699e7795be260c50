// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// collective::sharded_all_reduce is bitwise equal to collective::all_reduce with the same engine, on every place and in
// every step, with a share of the optimizer's state on each place.

#include <cstddef>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

/// Parameters of 3, 2, 1 and 1 cache lines; 8 lines with the sums behind the gradients.
using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
/// Three lines of parameters, so that most of many places have no share.
using tiny = nn::sequential<nn::linear<6, 3>>;
using each_parameter = collective::buckets<1, 1>;
/// Two buckets: the last layer and the first.
using each_layer = collective::buckets<130, 100>;
using three = dp::replicated<2, 0, 1>;

const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.1, .class_weights = {1, 2, 0.7}};

using four = dp::replicated<0, 1, 2, 3>;
using nine = dp::replicated<0, 1, 2, 3, 4, 5, 6, 7, 8>;

/// A user's rule: another rule with a decreasing learning rate.
struct decreasing {
  dp::optim::adam rule{.learning_rate = 0.02};

  static constexpr std::size_t state_arenas = dp::optim::adam::state_arenas;
  void validate() const {}
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    auto now = rule;
    now.learning_rate /= static_cast<double>(a.step);
    now.step<Backend>(a);
  }
};

/// The result of a training: the loss and the last place's parameters after each step.
template <class T> struct run {
  std::vector<T> losses;
  std::vector<std::vector<T>> parameters;
  double mean_loss = 0;

  friend bool operator==(const run&, const run&) = default;
};

/// Steps on batches of several sizes, also with fewer samples than places and with none; checks after each step that
/// all replicas are equal. `max_norm` 0 does not clip.
template <class Net, class Where, class T, class Policy, std::size_t Batches = 1, class Rule>
run<T> train(const Rule& rule, double max_norm = 0) {
  dp::model<Net, Where, T> model{dp::seed{9}};
  dp::trainer step{model, weighted, rule, Policy{}, dp::accumulate<Batches>{}};
  if (max_norm != 0) step.clip({.max_norm = max_norm});
  run<T> result;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 33, 0, 5, 12}) {
    const auto x = distribute<Where>(dp::test::integer_samples<T, 6>(rows));
    const auto y = distribute<Where>(dp::test::square_labels(rows, 3));
    const T loss = step(x, y).item();
    if (rows > 1) result.losses.push_back(loss);  // otherwise NaN
    dp::check_replicas(model);
    result.parameters.push_back(parameters_of(model, dp::local_place_count<Where> - 1));
  }
  step.flush();
  result.parameters.push_back(parameters_of(model));
  result.mean_loss = step.mean_loss();
  return result;
}

template <class Net, class Where, class T, class Engine, class Buckets, class Rule> void check_equal(const Rule& rule) {
  using whole = collective::all_reduce<Engine, Buckets>;
  using shared = collective::sharded_all_reduce<Engine, Buckets>;
  for (const double max_norm : {0.0, 0.05}) {
    INFO(dp::placement_name<Where>() << ", engine " << Engine::name << ", norm " << max_norm);
    CHECK(train<Net, Where, T, shared>(rule, max_norm) == train<Net, Where, T, whole>(rule, max_norm));
  }
}

constexpr dp::optim::adam adam{.learning_rate = 0.01, .weight_decay = 0.01};

/// Bytes of the optimizer's state on place `Ordinal`.
template <int Ordinal> std::size_t state_on() {
  return dp::memory_statistics<dp::cuda<Ordinal>>().of(dp::memory_purpose::optimizer_state);
}

}  // namespace

TEST_CASE("sharded_all_reduce is bitwise equal to all_reduce", "[train]") {
  check_equal<net, three, float, collective::direct, collective::buckets<>>(adam);
}

TEST_CASE("sharded_all_reduce is bitwise equal to all_reduce in several buckets", "[train]") {
  check_equal<net, four, float, collective::direct, each_parameter>(adam);
  check_equal<net, three, float, collective::ring, each_parameter>(adam);
}

TEST_CASE("places without a share follow the others", "[train]") {
  check_equal<tiny, nine, float, collective::direct, collective::buckets<>>(adam);
}

TEST_CASE("every rule gives the same bits in shares as with all_reduce", "[train]") {
  const auto check_in_float = [](const auto& rule) {
    check_equal<net, three, float, collective::direct, collective::buckets<>>(rule);
  };
  const auto check_in_double = [](const auto& rule) {
    check_equal<net, three, double, collective::ring, each_layer>(rule);
  };
  check_in_float(dp::optim::sgd{.learning_rate = 0.1});
  check_in_float(dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  check_in_double(dp::optim::adamw{.learning_rate = 0.01});
  check_in_float(dp::optim::rmsprop{.learning_rate = 0.01, .momentum = 0.5});
  check_in_double(decreasing{});
}

TEST_CASE("on one place sharded_all_reduce equals all_reduce", "[train]") {
  using shared = collective::sharded_all_reduce<>;
  check_equal<net, dp::on<dp::cpu>, float, collective::direct, collective::buckets<>>(adam);
  check_equal<net, dp::replicated<3>, float, collective::direct, collective::buckets<>>(adam);
  CHECK(train<net, dp::replicated<3>, float, shared>(adam) == train<net, dp::on<dp::cpu>, float, shared>(adam));
  using one = dp::model<net, dp::on<dp::cpu>>;
  STATIC_REQUIRE(dp::memory_plan<one, dp::batch<8>, dp::optim::adam, shared>::bytes ==
                 dp::memory_plan<one, dp::batch<8>, dp::optim::adam>::bytes);
}

TEST_CASE("accumulated batches are reduced once", "[train]") {
  for (const double max_norm : {0.0, 0.05}) {
    CHECK(train<net, three, float, collective::sharded_all_reduce<collective::ring>, 4>(adam, max_norm) ==
          train<net, three, float, collective::ring_all_reduce, 4>(adam, max_norm));
  }
}

TEST_CASE("hyperparameters may change and clipping may begin between steps", "[train]") {
  const auto train_with = [](auto policy) {
    dp::model<net, three> model{dp::seed{9}};
    dp::trainer step{model, weighted, dp::optim::sgd{.learning_rate = 0.1}, policy};
    std::vector<std::vector<float>> found;
    for (int i = 0; i < 8; ++i) {
      if (i == 2) step.optimizer().rule().momentum = 0.9;
      if (i == 4) step.clip({.max_norm = 0.01});
      if (i == 6) step.optimizer().rule().learning_rate = 0.01;
      step(distribute<three>(dp::test::integer_samples<float, 6>(10)),
           distribute<three>(dp::test::square_labels(10, 3)));
      found.push_back(parameters_of(model, 2));
    }
    CHECK(step.optimizer().steps() == 8);
    return found;
  };
  CHECK(train_with(collective::sharded_all_reduce{}) == train_with(collective::all_reduce{}));
}

TEST_CASE("each place has its share of the optimizer's state", "[train]") {
  using mnist = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
  using model_type = dp::model<mnist, three>;
  constexpr std::size_t whole = 2 * 203536 * sizeof(float), line = 2 * 64;
  constexpr std::size_t record = dp::optim::step_memory_bytes;
  const std::size_t before[] = {state_on<2>(), state_on<0>(), state_on<1>()};
  const auto check = [&](const auto& policy, std::size_t buckets) {
    using policy_type = std::remove_cvref_t<decltype(policy)>;
    model_type model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy};
    const std::size_t of[] = {state_on<2>() - before[0], state_on<0>() - before[1], state_on<1>() - before[2]};
    for (const std::size_t bytes : of) CHECK(bytes <= whole / 3 + buckets * (line + record));
    CHECK(of[0] + of[1] + of[2] == whole + 3 * buckets * record);
    CHECK(of[0] == dp::memory_plan<model_type, dp::batch<8>, dp::optim::adam, policy_type>::optimizer_state);
  };
  check(collective::sharded_all_reduce{}, 1);
  check(collective::sharded_all_reduce<collective::ring, each_parameter>{}, 4);
}

TEMPLATE_TEST_CASE("sharded steps allocate nothing after prepare, and memory matches the plan", "[train]",
                   collective::sharded_all_reduce<>,
                   (collective::sharded_all_reduce<collective::ring, each_parameter>)) {
  using where = three;
  using model_type = dp::model<net, where>;
  using plan = dp::memory_plan<model_type, dp::batch<64>, dp::optim::adam, TestType>;
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(64));
  const auto y = distribute<where>(dp::test::square_labels(64, 3));
  for (const bool clips : {false, true}) {
    const std::size_t first = dp::memory_statistics<dp::cuda<2>>().allocated;
    dp::reset_peak_memory<dp::cuda<2>>();
    model_type model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, TestType{}};
    if (clips) step.clip({.max_norm = 1});
    step.prepare(64);
    const auto before = dp::memory_statistics<dp::cuda<2>>().allocations;
    const auto before_last = dp::memory_statistics<dp::cuda<1>>().allocations;
    for (int i = 0; i < 3; ++i) step(x, y);
    CHECK(dp::memory_statistics<dp::cuda<2>>().allocations == before);
    CHECK(dp::memory_statistics<dp::cuda<1>>().allocations == before_last);
    CHECK(dp::memory_statistics<dp::cuda<2>>().peak - first == plan::bytes + (clips ? plan::clipping : 0));
  }
}

TEST_CASE("synchronize gives every place the whole gradients, as with all_reduce", "[train]") {
  using where = three;
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(10));
  const auto y = distribute<where>(dp::test::square_labels(10, 3));
  const auto by_hand = [&](auto policy) {
    dp::model<net, where> model{dp::seed{9}};
    dp::optimizer optimizer{model, adam};
    for (int i = 0; i < 3; ++i) {
      auto [output, saved] = model.forward(x);
      auto [loss, gradient] = weighted(output, y);
      optimizer.step(model, dp::synchronize(model.backward(std::move(saved), gradient), policy));
    }
    dp::check_replicas(model);
    return parameters_of(model, 1);
  };
  CHECK(by_hand(collective::sharded_all_reduce{}) == by_hand(collective::all_reduce{}));
}
