// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training of a model in shares is bitwise equal to one of replicas with all_reduce and the same engine: parameters,
// optimizer state, buffers, losses, norms and predictions.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/training_data.hpp"
#include "train/sharded_training.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
/// Layers with more than parameters of one kind.
using various =
    nn::sequential<nn::linear<6, 8>, nn::batch_norm<8>, nn::relu, nn::frozen<nn::linear<8, 20>>,
                   nn::batch_norm<20, nn::over_all_places>, nn::tanh,
                   nn::recomputed<nn::sequential<nn::linear<20, 8>, nn::layer_norm<8>, nn::dropout<std::ratio<1, 5>>>>,
                   nn::residual<nn::linear<8, 8>, nn::tanh>,
                   nn::learning_rate_times<std::ratio<1, 2>, nn::linear<8, 8>>, nn::linear<8, 3>>;
/// Three cache lines of parameters, so that most of many places have no share.
using tiny = nn::sequential<nn::linear<6, 3>>;

/// Each layer with parameters is a unit.
template <int... I> using each_layer = dp::spread<dp::mesh<dp::shares<sizeof...(I), 1>>, I...>;

using dp::test::policy_for, dp::test::state_of, dp::test::weighted;
using run = dp::test::training_results;
constexpr dp::optim::adam adam = dp::test::adam_with_decay;

template <class Net, class Where, class P, class Engine, std::size_t Batches = 1, class Rule>
run train(const Rule& rule) {
  return dp::test::train_in_steps<Net, Where, P, Engine, Batches>(rule);
}

template <class Net, class Shares, class Replicas, class P = float, class Engine = collective::direct,
          std::size_t Batches = 1, class Rule = dp::optim::adam>
void check_equal(const Rule& rule = adam) {
  INFO(dp::placement_name<Shares>() << ", engine " << Engine::name);
  const run shares = train<Net, Shares, P, Engine, Batches>(rule);
  if constexpr (!support::sanitized)  // others test replicas
    CHECK((shares == train<Net, Replicas, P, Engine, Batches>(rule)));
  CHECK(shares.end != shares.start);
  CHECK(shares.losses[0] != shares.losses[1]);
}

using three = dp::replicated<2, 0, 1>;
using three_shares = each_layer<2, 0, 1>;

/// The parameters, read from the state of a trainer that takes no step.
template <class Model> std::vector<float> parameters_in(Model& model) {
  const auto whole = dp::to<dp::cpu>(model);
  return dp::test::parameters_of(whole);
}

using exact_net = nn::sequential<nn::linear<6, 4>, nn::linear<4, 2>>;

template <class Where, class Engine, std::size_t Batches> std::vector<double> exact_steps() {
  return dp::test::exact_steps<exact_net, Where, Engine, Batches>({1, 4, 9, 30});
}
template <int... I> void check_exact() {
  INFO(sizeof...(I) << " places");
  const auto expected = exact_steps<dp::on<dp::cpu>, collective::direct, 1>();
  const auto accumulated = exact_steps<dp::on<dp::cpu>, collective::direct, 3>();
  CHECK(accumulated != expected);
  CHECK(exact_steps<each_layer<I...>, collective::ring, 1>() == expected);
  CHECK(exact_steps<each_layer<I...>, collective::direct, 3>() == accumulated);
}

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

}  // namespace

TEST_CASE("shares on one to nine places have the bits of replicas", "[train]") {
  check_equal<net, each_layer<3>, dp::replicated<3>>();
  check_equal<net, each_layer<0, 1>, dp::replicated<0, 1>>();
  check_equal<net, three_shares, three>();
  check_equal<net, each_layer<0, 1, 2, 3, 4>, dp::replicated<0, 1, 2, 3, 4>>();
  check_equal<tiny, each_layer<0, 1, 2, 3, 4, 5, 6, 7, 8>, dp::replicated<0, 1, 2, 3, 4, 5, 6, 7, 8>>();
  check_equal<net, each_layer<0, 1, 2, 3, 4, 5, 6, 7, 8>, dp::replicated<0, 1, 2, 3, 4, 5, 6, 7, 8>>();
}

TEST_CASE("a model of one unit and on the CPU has the bits of replicas", "[train]") {
  STATIC_REQUIRE(dp::unit_plan<dp::model<net, dp::fully_sharded<2, 0, 1>>>::size == 1);
  STATIC_REQUIRE(dp::unit_plan<dp::model<net, three_shares>>::size == 2);
  check_equal<net, dp::fully_sharded<2, 0, 1>, three>();
  check_equal<net, dp::fully_sharded_on<dp::cpu>, dp::replicated<0>>();
}

TEST_CASE("layers of every kind have the bits of replicas in shares", "[train]") {
  check_equal<various, three_shares, three>();
  check_equal<various, each_layer<0, 1>, dp::replicated<0, 1>, double>();
  check_equal<various, dp::spread<dp::mesh<dp::shares<3, 600>>, 2, 0, 1>, three>();
  check_equal<various, dp::spread<dp::mesh<dp::shares<3, 1, dp::gathered::kept>>, 2, 0, 1>, three>();
}

TEST_CASE("a frozen norm before a trained one of the same unit is gathered in float", "[train]") {
  using norms = nn::sequential<nn::linear<6, 8>, nn::frozen<nn::layer_norm<8>>, nn::linear<8, 8>, nn::layer_norm<8>,
                               nn::linear<8, 3>>;
  using one_unit = dp::fully_sharded<2, 0, 1>;
  STATIC_REQUIRE(dp::unit_plan<dp::model<norms, one_unit, dp::mixed<dp::bf16>>>::at(0).masters.first > 0);
  check_equal<norms, one_unit, three, dp::mixed<dp::bf16>>();
  check_equal<norms, three_shares, three, dp::mixed<dp::bf16>>();
}

TEST_CASE("mixed precision has the bits of replicas in shares", "[train]") {
  check_equal<various, three_shares, three, dp::mixed<dp::bf16>>();
  check_equal<various, three_shares, three, dp::mixed<dp::half>>();
}

TEST_CASE("shares skip the same steps with infinite gradients as replicas", "[train]") {
  const auto skipping = [](auto where) {
    using place = decltype(where);
    dp::model<net, place, dp::mixed<dp::half>> model{dp::seed{9}};
    dp::trainer step{model, weighted, adam, policy_for<place, collective::direct>{}};
    step.scale_losses({.initial_scale = 1 << 22, .growth_interval = 3});
    std::vector<double> found;
    for (std::size_t i = 0; i != 12; ++i) {
      step(distribute<place>(dp::test::integer_samples<float, 6>(10 + i)),
           distribute<place>(dp::test::square_labels(10 + i, 3)));
      const dp::optim::loss_scaler_state scaler = step.scaler();
      found.insert(found.end(), {scaler.scale, static_cast<double>(scaler.skipped_steps)});
    }
    CHECK(found.back() > 1);
    CHECK(found.back() < 10);
    const auto end = state_of(step);
    found.insert(found.end(), end.begin(), end.end());
    return found;
  };
  CHECK((skipping(three_shares{}) == skipping(three{})));
}

TEST_CASE("gradients in 16 bits have the bits of replicas in shares", "[train]") {
  using rounded = collective::wire<dp::bf16>;
  check_equal<various, three_shares, three, float, rounded>();
  CHECK((train<net, three_shares, float, rounded>(adam) != train<net, three_shares, float, collective::direct>(adam)));
}

TEST_CASE("a step on integers is exact in shares, by a ring and with accumulated batches", "[train]") {
  check_exact<0, 1>();
  check_exact<2, 0, 1>();
  check_exact<0, 1, 2, 3, 4, 5, 6, 7, 8>();
}

TEST_CASE("a ring over shares of a unit adds in the order of a ring over the bucket", "[train]") {
  check_equal<net, each_layer<0, 1>, dp::replicated<0, 1>, float, collective::ring>();
  // The sums of losses follow the last bucket alone, so that the first layer has the same bits.
  const auto first_layer = [](auto where, auto policy) {
    using place = decltype(where);
    dp::model<nn::sequential<nn::linear<6, 40>, nn::relu, nn::linear<40, 3>>, place> model{dp::seed{9}};
    dp::trainer step{model, weighted, dp::optim::sgd{.learning_rate = 0.1}, policy};
    const auto before = step.state().parameters;
    step(distribute<place>(dp::test::integer_samples<float, 6>(50)), distribute<place>(dp::test::square_labels(50, 3)));
    const auto after = step.state().parameters;
    CHECK(std::vector<float>(after.begin(), after.begin() + 280) !=
          std::vector<float>(before.begin(), before.begin() + 280));
    return std::vector<float>(after.begin(), after.begin() + 280);
  };
  using layers = collective::buckets<200, 200>;
  CHECK(first_layer(three_shares{}, collective::gather_units<collective::ring>{}) ==
        first_layer(three{}, collective::all_reduce<collective::ring, layers>{}));
}

TEST_CASE("accumulated batches have the same losses as those of replicas", "[train]") {
  const run shares = train<net, three_shares, float, collective::direct, 4>(adam);
  const run replicas = train<net, three, float, collective::direct, 4>(adam);
  // Replicas add up before they reduce, and shares reduce each batch.
  REQUIRE(shares.end.size() == replicas.end.size());
  for (std::size_t i = 0; i != shares.end.size(); ++i)
    CHECK(shares.end[i] == Catch::Approx(replicas.end[i]).epsilon(1e-4).margin(1e-6));
  CHECK(shares.end != shares.start);
}

TEST_CASE("every rule gives the bits of replicas in shares", "[train]") {
  check_equal<net, three_shares, three>(dp::optim::sgd{.learning_rate = 0.1});
  check_equal<net, three_shares, three>(
      dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  check_equal<various, three_shares, three>(dp::optim::adamw{.learning_rate = 0.01});
  check_equal<various, three_shares, three>(
      dp::optim::scheduled{adam, dp::optim::linear{.steps = 2, .from = 0.1}.then(dp::optim::cosine{.steps = 3})});
  check_equal<net, three_shares, three>(decreasing{});
}

TEST_CASE("a moved model in shares is trained further by its trainer", "[train]") {
  const auto moved = [](auto where) {
    using place = decltype(where);
    using model_type = dp::model<net, place>;
    const auto x = distribute<place>(dp::test::integer_samples<float, 6>(11));
    const auto y = distribute<place>(dp::test::square_labels(11, 3));
    model_type first{dp::seed{9}};
    dp::trainer step{first, weighted, adam, policy_for<place, collective::direct>{}};
    step(x, y);
    model_type second = std::move(first);
    step(x, y);
    CHECK_THROWS_AS(first.predict(x), dp::error);
    auto other = std::move(step);
    other(x, y);
    const auto found = parameters_in(second);
    second = model_type{dp::seed{3}};
    CHECK_THROWS_AS(other(x, y), dp::error);
    return found;
  };
  CHECK(moved(three_shares{}) == moved(three{}));
}

TEST_CASE("a model in shares draws, copies and assigns the parameters of a model on one place", "[train]") {
  dp::model<various, dp::cpu> one{dp::seed{5}};
  dp::model<various, three_shares> shares{dp::seed{5}};
  CHECK(parameters_in(shares) == dp::test::parameters_of(one));
  dp::test::set_integer_parameters(one);
  CHECK(parameters_in(shares) != dp::test::parameters_of(one));
  shares.assign(one);
  CHECK(parameters_in(shares) == dp::test::parameters_of(one));
  const auto copy = dp::to<each_layer<0, 1, 2, 3>>(one);
  CHECK(parameters_in(copy) == dp::test::parameters_of(one));
  const auto other = dp::to<dp::fully_sharded<4, 3>>(copy);
  CHECK(parameters_in(other) == dp::test::parameters_of(one));
  const auto replicas = dp::to<three>(other);
  CHECK(dp::test::parameters_of(replicas, 2) == dp::test::parameters_of(one));
  const auto in_double = dp::to<dp::cpu, double>(other);
  const std::vector<double> wide = dp::test::parameters_of(in_double);
  CHECK(std::vector<float>(wide.begin(), wide.end()) == dp::test::parameters_of(one));
}

TEST_CASE("accuracy, early stopping and averages of parameters agree with those of replicas", "[train]") {
  const auto numbers = [](auto where) {
    using place = decltype(where);
    const dp::image_set data = support::numbered_images(41);  // the last batch of an epoch has one sample
    dp::model<nn::sequential<nn::linear<6, 24>, nn::batch_norm<24>, nn::relu, nn::linear<24, 10>>, place> model{
        dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1},
                     policy_for<place, collective::direct>{}};
    dp::moving_average average{model, {.decay = 0.9}};
    dp::early_stopping stopping{model, {.patience = 1, .maximize = true}};
    dp::loader<place> batches{data, {.batch = 8, .shuffle = dp::seed{2}}};
    std::vector<double> found;
    for (int epoch = 0; epoch != 6; ++epoch) {
      for (const auto& [images, labels] : batches.epoch(epoch)) {
        step(images, labels);
        average.update(model);
      }
      found.push_back(dp::accuracy(model, data, {.top = 3}));
      found.push_back(dp::accuracy(average.model(), data));
      if (stopping(epoch < 3 ? epoch : 0, model)) break;
    }
    CHECK(found.size() == 8);
    const std::vector<float> last = parameters_in(model);
    stopping.restore(model);
    CHECK(parameters_in(model) != last);
    for (const auto& values : {last, parameters_in(model), parameters_in(average.model())})
      found.insert(found.end(), values.begin(), values.end());
    for (const auto& [images, labels] : batches.epoch(9)) step(images, labels);  // continues with the restored values
    const auto end = state_of(step);
    found.insert(found.end(), end.begin(), end.end());
    return found;
  };
  CHECK((numbers(three_shares{}) == numbers(three{})));
}

TEST_CASE("a model in shares predicts into memory apart from the batch", "[train]") {
  const dp::model<nn::sequential<nn::linear<6, 6>>, three_shares> model{dp::seed{1}};
  auto x = distribute<three_shares>(dp::test::integer_samples<float, 6>(7));
  CHECK_THROWS_WITH(model.predict_into(x, x), Catch::Matchers::ContainsSubstring("shares memory with the batch"));
}
