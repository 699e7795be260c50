// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers in slices of their rows: a training has the bits of replicas where slices change no sum, and is exact or close
// to it elsewhere.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"
#include "train/sharded_training.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;

namespace {

constexpr dp::optim::adam adam = dp::test::adam_with_decay;
template <int... I> using each_layer = dp::spread<dp::mesh<dp::shares<sizeof...(I), 1>>, I...>;
using three = dp::replicated<2, 0, 1>;
using three_shares = each_layer<2, 0, 1>;
using kept_shares = dp::spread<dp::mesh<dp::shares<3, 1, dp::gathered::kept>>, 2, 0, 1>;
template <class Net, class Where, class P = float> using units = dp::unit_plan<dp::model<Net, Where, P>>;

/// A layer whose number of rows is a multiple of 512, so that slices add up the gradient of its input as a whole does.
using regular = nn::sequential<nn::linear<6, 256>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<256, 1536>,
                               nn::tanh, nn::linear<1536, 3>>;
/// Layers of any size whose input needs no gradient, with parameters behind them that others read.
using table = nn::sequential<nn::input<3>, nn::embedding<3301, 100>, nn::flatten, nn::tanh, nn::linear<300, 3>>;
using padded_table = nn::sequential<nn::input<3>, nn::named<"tokens", nn::embedding<3301, 100, nn::padding_index<5>>>,
                                    nn::flatten, nn::learning_rate_times<std::ratio<1, 2>, nn::linear<300, 3>>>;
using after_frozen = nn::sequential<nn::input<3>, nn::frozen<nn::embedding<3301, 100>>, nn::linear<100, 3001>,
                                    nn::layer_norm<3001>, nn::flatten, nn::linear<9003, 3, false>>;
using first = nn::sequential<nn::linear<61, 5003>, nn::tanh, nn::linear<5003, 3>>;
/// A frozen layer, of which only the gradient of the input is computed.
using frozen_rows =
    nn::sequential<nn::linear<6, 256>, nn::tanh, nn::frozen<nn::linear<256, 1536>>, nn::tanh, nn::linear<1536, 3>>;

template <class Net, class Shares, class P = float, class Engine = collective::direct, std::size_t Columns = 6,
          std::size_t Indices = 0, class Rule = dp::optim::adam>
void check_equal(std::size_t slices, const Rule& rule = adam) {
  using plan = units<Net, Shares, P>;
  const std::string described = dp::describe_units<dp::model<Net, Shares, P>>();
  INFO(dp::placement_name<Shares>() << "\n" << described);
  std::size_t found = 0;
  for (std::size_t u = 0; u != plan::size; ++u) found += plan::at(u).is_slice() ? 1u : 0u;
  CHECK(found == slices);
  const auto shares = dp::test::train_in_steps<Net, Shares, P, Engine, 1, Columns, Indices>(rule);
  if constexpr (!support::sanitized)  // others test replicas
    CHECK((shares == dp::test::train_in_steps<Net, three, P, Engine, 1, Columns, Indices>(adam)));
  CHECK(shares.end != shares.start);
  CHECK(shares.losses[0] != shares.losses[1]);
}

/// Layers of other numbers of rows.
using irregular = nn::sequential<nn::linear<6, 300>, nn::tanh, nn::linear<300, 999>, nn::tanh, nn::linear<999, 3>>;
using exact_net = nn::sequential<nn::linear<6, 200>, nn::linear<200, 801>, nn::linear<801, 2>>;

/// The parameters before and after the first of some steps, and after the last.
struct steps {
  std::vector<float> start, first, last;
};
template <class Where, class P> steps irregular_steps() {
  dp::model<irregular, Where, P> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.05}};
  steps found{step.state().parameters, {}, {}};
  for (int i = 0; i != 5; ++i) {
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(40)),
         dp::to_batch<Where>(dp::test::square_labels(40, 3)));
    if (i == 0) found.first = step.state().parameters;
  }
  found.last = step.state().parameters;
  return found;
}
/// The largest difference, as a part of the largest change since `start`.
double difference(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& start) {
  double most = 0, change = 0;
  for (std::size_t i = 0; i != a.size(); ++i) {
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
    change = std::max(change, std::abs(double{a[i]} - double{start[i]}));
  }
  CHECK(change > 0);
  return most / change;
}
/// Trains layers whose slices change the order of a sum.
template <class Where, class P> void check_close(double after_one, double after_five) {
  INFO(dp::placement_name<Where>());
  const steps shares = irregular_steps<Where, P>(), replicas = irregular_steps<three, P>();
  REQUIRE(shares.start == replicas.start);
  // The first layer alone gets the gradient that is summed slice by slice.
  constexpr std::size_t behind_first = 300 * 6 + 300;
  CHECK(std::equal(shares.first.begin() + behind_first, shares.first.end(), replicas.first.begin() + behind_first));
  CHECK(difference(shares.first, replicas.first, shares.start) <= after_one);
  CHECK(difference(shares.last, replicas.last, shares.start) <= after_five);
}

template <class Net, class Where, class P, class Engine> void check_memory(std::size_t slot) {
  using model_type = dp::model<Net, Where, P>;
  using policy = collective::gather_units<Engine>;
  using plan = dp::memory_plan<model_type, dp::batch<48>, dp::optim::adam, policy>;
  INFO(dp::placement_name<Where>() << ", engine " << Engine::name);
  CHECK(plan::unit_gradients <= 2 * slot);
  const auto x = distribute<Where>(dp::test::samples_for<model_type, 3, 3301>(48));
  const auto y = distribute<Where>(dp::test::square_labels(48, 3));
  const std::size_t before = dp::memory_statistics<dp::cuda<0>>().allocated;
  dp::reset_peak_memory<dp::cuda<0>>();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
  step(x, y);
  const std::size_t allocations = dp::memory_statistics<dp::cuda<0>>().allocations;
  step(x, y);
  step(x, y);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocations == allocations);
  CHECK(dp::memory_statistics<dp::cuda<0>>().peak - before == plan::bytes);
}

/// Bytes of the calls with a name: each of n places receives or sends the others' parts of a buffer once.
std::size_t bytes_of(const std::vector<dp::test::recorded_call>& calls, std::size_t n) {
  std::size_t sum = 0;
  for (const dp::test::recorded_call& call : calls) sum += (n - 1) * call.count * call.element_bytes;
  return sum;
}
template <class Net, class Where, class P> void check_traffic() {
  using model_type = dp::model<Net, Where, P>;
  using policy = collective::gather_units<dp::test::recording>;
  constexpr dp::step_traffic<model_type, policy> traffic;
  INFO(dp::placement_name<Where>());
  dp::test::call_log log;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}, policy{.engine = {&log}}};
  const auto x = distribute<Where>(dp::test::samples_for<model_type, 3, 3301>(16));
  const auto y = distribute<Where>(dp::test::square_labels(16, 3));
  step(x, y);
  log.clear();
  step(x, y);
  CHECK(bytes_of(log.of("all_gather"), 3) == traffic.parameters);
  CHECK(bytes_of(log.of("reduce_scatter"), 3) + 2 * bytes_of(log.of("all_reduce"), 3) == traffic.gradients);
  CHECK(traffic.bytes == traffic.parameters + traffic.gradients);
}

}  // namespace

TEST_CASE("a layer in slices of whole sums has the bits of replicas", "[train]") {
  check_equal<regular, three_shares>(2);
  check_equal<regular, three_shares, double>(3);
  check_equal<regular, kept_shares>(2);
  check_equal<frozen_rows, three_shares>(2, dp::optim::on_host{adam});
}

TEST_CASE("a table in slices has the bits of replicas", "[train]") {
  check_equal<table, three_shares, float, collective::direct, 3, 3301>(2);
  check_equal<table, kept_shares, dp::mixed<dp::half>, collective::direct, 3, 3301>(2);
  check_equal<padded_table, three_shares, float, collective::wire<dp::bf16>, 3, 3301>(2);
}

TEST_CASE("layers in slices whose input needs no gradient have the bits of replicas", "[train]") {
  check_equal<after_frozen, three_shares, dp::mixed<dp::bf16>, collective::direct, 3, 3301>(2 + 2);
  check_equal<first, three_shares, dp::mixed<dp::half>, collective::direct, 61>(2);
}

TEST_CASE("a step on integers is exact with layers in slices", "[train]") {
  using exact_shares = each_layer<2, 0, 1>;
  STATIC_REQUIRE(units<exact_net, exact_shares, double>::has_slices);
  const auto expected = dp::test::exact_steps<exact_net, dp::cpu, collective::direct, 1>({1, 4, 9});
  const auto accumulated = dp::test::exact_steps<exact_net, dp::cpu, collective::direct, 3>({1, 4, 9});
  CHECK(accumulated != expected);
  CHECK((dp::test::exact_steps<exact_net, exact_shares, collective::direct, 1>({1, 4, 9}) == expected));
  CHECK((dp::test::exact_steps<exact_net, exact_shares, collective::ring, 3>({1, 4, 9}) == accumulated));
  using pairs = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2, 1>>, 0, 1, 2, 3>;
  CHECK((dp::test::exact_steps<exact_net, pairs, collective::direct, 1>({1, 4, 9}) == expected));
}

TEST_CASE("the gradient of the input of a layer in slices is rounded differently", "[train]") {
  check_close<three_shares, float>(1e-5, 1e-4);
  check_close<three_shares, dp::mixed<dp::bf16>>(1e-2, 2e-2);
  check_close<kept_shares, dp::mixed<dp::half>>(1e-3, 1e-2);
}

TEST_CASE("layers in slices take the planned memory", "[train]") {
  // Gradients of units in two slots: slices of 2,048 and of 1,536 rows.
  constexpr std::size_t slot = 2048 * 100 * sizeof(float);
  using places = each_layer<0, 1, 2>;
  check_memory<table, places, float, collective::direct>(slot);
  check_memory<after_frozen, places, float, collective::ring>(slot);
  check_memory<after_frozen, places, dp::mixed<dp::bf16>, collective::direct>(slot);
  check_memory<after_frozen, places, dp::mixed<dp::bf16>, collective::wire<dp::bf16>>(slot);
  check_memory<after_frozen, dp::spread<dp::mesh<dp::shares<3, 1, dp::gathered::kept>>, 0, 1, 2>, float,
               collective::direct>(slot);
}

TEST_CASE("layers in slices move the planned bytes", "[train]") {
  check_traffic<table, three_shares, float>();
  check_traffic<after_frozen, three_shares, dp::mixed<dp::bf16>>();
  check_traffic<table, kept_shares, float>();
}

TEST_CASE("a training with layers in slices continues on every placement", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("checkpoint");
  const auto saved = [&](auto where) {
    using place = decltype(where);
    dp::model<regular, place> model{dp::seed{5}};
    dp::trainer step{model, nn::cross_entropy{}, adam};
    step(dp::to_batch<place>(dp::test::integer_samples<float, 6>(20)),
         dp::to_batch<place>(dp::test::square_labels(20, 3)));
    dp::save_checkpoint(step, {1, 2}, path);
    return dp::test::state_of(step);
  };
  const auto loaded = [&](auto where) {
    dp::model<regular, decltype(where)> model{dp::seed{6}};
    dp::trainer step{model, nn::cross_entropy{}, adam};
    CHECK((dp::load_checkpoint(step, path) == dp::training_position{1, 2}));
    return dp::test::state_of(step);
  };
  const auto of_slices = saved(three_shares{});
  CHECK((loaded(dp::cpu{}) == of_slices));
  CHECK((loaded(each_layer<0, 1, 2, 3>{}) == of_slices));
  CHECK((loaded(dp::fully_sharded<1, 0>{}) == of_slices));
  const auto of_one = saved(dp::cuda<0>{});
  CHECK(of_one != of_slices);
  CHECK((loaded(three_shares{}) == of_one));
}

TEST_CASE("processes have layers in slices", "[train]") {
  using where = dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, 1>>>;
  const auto expected = dp::test::train_in_steps<regular, dp::replicated<0, 1>, float, collective::direct>(adam).losses;
  CHECK_NOTHROW(dp::test::in_processes(2, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<regular, where> model{dp::seed{9}};
    dp::trainer step{model, dp::test::weighted, adam};
    for (std::size_t i = 0; i != 2; ++i) {
      const std::size_t rows = i == 0 ? 7 : 33;
      const double loss = step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(rows)),
                               dp::to_batch<where>(dp::test::square_labels(rows, 3)))
                              .item();
      if (loss != expected[i]) throw std::logic_error("a loss has other bits.");
    }
  }));
}

TEST_CASE("an index without a row is found in a table in slices", "[train]") {
  dp::model<table, three_shares> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, adam};
  auto x = dp::test::samples_for<dp::model<table, dp::cpu>, 3, 3301>(6);
  x(4, 1) = 3301;
  CHECK_THROWS_WITH(step(distribute<three_shares>(x), distribute<three_shares>(dp::test::square_labels(6, 3))).item(),
                    Catch::Matchers::ContainsSubstring("index 3301 at position"));
}
