// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training on meshes of replicas and shares: equal bits as on one place where sums are exact, the same bits for
// processes as for places of one process, and plans and traffic as measured.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

namespace {

/// Each layer is a unit.
constexpr std::size_t each_layer = 1;
template <std::size_t Replicas, std::size_t Shares, int... I>
using on_mesh = dp::spread<dp::mesh<dp::replicas<Replicas>, dp::shares<Shares, each_layer>>, I...>;
using two_by_two = on_mesh<2, 2, 0, 1, 2, 3>;
using three_by_two = on_mesh<3, 2, 0, 1, 2, 3, 4, 5>;
using two_by_three = on_mesh<2, 3, 5, 4, 3, 2, 1, 0>;
using two = dp::spread<dp::mesh<dp::shares<2, each_layer>>, 0, 1>;

using whole_numbers = nn::sequential<nn::linear<6, 24>, nn::linear<24, 3>>;
using net = nn::sequential<nn::linear<6, 33>, nn::batch_norm<33, nn::over_all_places>, nn::relu,
                           nn::frozen<nn::linear<33, 20>>, nn::layer_norm<20>, nn::linear<20, 3>>;

/// The parameters after one step on each of several batches. All sums are exact: numbers are small multiples of 2^-19.
template <class Where> std::vector<double> train_exactly() {
  dp::model<whole_numbers, dp::cpu, double> start{dp::seed{1}};
  std::size_t next = 0;
  start.for_each_parameter([&](const std::string&, auto view) {
    for (std::size_t i = 0; i != view.size(); ++i) view.data()[i] = static_cast<double>(next++ * 5 % 7) / 8 - 0.375;
  });
  std::vector<double> result;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 16}) {
    auto model = dp::to<Where>(start);
    dp::trainer step{model, nn::mse{.reduce = dp::reduction::sum}, dp::optim::plain_sgd{.learning_rate = 1.0 / 1024}};
    dp::tensor<double, dp::extents<dp::dyn, 3>, dp::cpu> targets{dp::extents<dp::dyn, 3>{rows}};
    for (std::size_t i = 0; i != targets.size(); ++i) targets.data()[i] = static_cast<double>(i % 3);
    step(dp::to_batch<Where>(dp::test::integer_samples<double, 6>(rows)), dp::to_batch<Where>(targets));
    const auto parameters = step.state().parameters;
    result.insert(result.end(), parameters.begin(), parameters.end());
  }
  return result;
}

struct result {
  std::vector<float> parameters, buffers, state;
  double mean_loss;
  friend bool operator==(const result&, const result&) = default;
};
template <class Where> result train() {
  dp::model<net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1}, dp::optim::adamw{.learning_rate = 0.01}};
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 13}) {
    if (rows == 64) step.clip({.max_norm = 0.1});
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
  }
  const auto state = step.state();
  return {state.parameters, state.buffers, state.optimizer.arenas[1], step.mean_loss()};
}

template <class Where, class P, class Engine> void check_memory() {
  INFO(dp::placement_name<Where>() << " with the engine " << Engine::name);
  using model_type = dp::model<net, Where, P>;
  using policy = collective::gather_units<Engine>;
  const auto x = dp::to_batch<Where>(dp::test::integer_samples<typename model_type::input_type, 6>(12));
  const auto y = dp::to_batch<Where>(dp::test::square_labels(12, 3));
  dp::reset_peak_memory<dp::cuda<0>>();
  const std::size_t before = dp::memory_statistics<dp::cuda<0>>().allocated;
  model_type model{dp::seed{5}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adamw{}, policy{}};
  step.prepare(12);
  step(x, y);
  const auto allocations = dp::memory_statistics<dp::cuda<0>>().allocations;
  step(x, y);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocations == allocations);
  CHECK(dp::memory_statistics<dp::cuda<0>>().peak - before ==
        dp::memory_plan<model_type, dp::batch<12>, dp::optim::adamw, policy>::bytes);
}

}  // namespace

TEST_CASE("meshes of replicas and shares have the bits of one place where sums are exact", "[train]") {
  const auto expected = train_exactly<dp::cpu>();
  CHECK((train_exactly<two_by_two>() == expected));
  CHECK((train_exactly<three_by_two>() == expected));
  CHECK((train_exactly<two_by_three>() == expected));
  CHECK((train_exactly<on_mesh<4, 1, 0, 1, 2, 3>>() == expected));
}

TEST_CASE("one share on each of several places is a replica", "[train]") {
  CHECK(train<on_mesh<4, 1, 0, 1, 2, 3>>() == train<dp::replicated<0, 1, 2, 3>>());
}

TEST_CASE("processes with shares in each train as a mesh in one process", "[train]") {
  const result expected = train<two_by_two>();
  const auto compare = [&](const dp::process_group& processes) {  // in threads, where checks would race
    const dp::process_scope scope{processes};
    if (train<dp::across<two>>() != expected)
      throw std::logic_error("rank " + std::to_string(processes.rank()) + " has other bits.");
  };
  CHECK_NOTHROW(dp::test::in_processes(2, compare));
}

TEST_CASE("memory on a mesh is planned exactly", "[train]") {
  check_memory<two_by_two, float, collective::direct>();
  check_memory<two_by_two, dp::mixed<dp::bf16>, collective::direct>();
  check_memory<three_by_two, float, collective::ring>();
}

TEST_CASE("the traffic along each axis of a mesh is that of the collectives", "[train]") {
  using recording = collective::gather_units<dp::test::recording>;
  dp::test::call_log log;
  dp::model<net, two_by_three> model{dp::seed{5}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adamw{}, recording{{&log}}};
  const auto x = dp::to_batch<two_by_three>(dp::test::integer_samples<float, 6>(12));
  const auto y = dp::to_batch<two_by_three>(dp::test::square_labels(12, 3));
  step(x, y);
  log.clear();
  step(x, y);
  std::size_t bytes = 0, between_replicas = 0;
  for (const auto& call : log.calls) {
    const std::size_t others = call.buffers.size() - 1, size = call.count * call.element_bytes;
    const std::size_t moved = others * size * (call.what == "all_reduce" ? 2 : 1);
    bytes += moved;
    if (call.buffers.size() == 2) between_replicas += moved;
  }
  constexpr dp::step_traffic<dp::model<net, two_by_three>, recording> traffic;
  CHECK(bytes == traffic.bytes);
  CHECK(between_replicas == traffic.between_replicas);
  CHECK(between_replicas < bytes - between_replicas);
}

TEST_CASE("a mesh's placement has its axes in its name", "[train]") {
  CHECK(dp::placement_name<two_by_two>() == "spread<mesh<replicas<2>, shares<2>>, cuda:0, cuda:1, cuda:2, cuda:3>");
  CHECK(dp::placement_name<two>() == "fully_sharded<cuda:0, cuda:1>");
  CHECK(dp::placement_name<dp::across<two>>() == "across<fully_sharded<cuda:0, cuda:1>>");
  CHECK(dp::placement_name<dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn>>>>() == "across<cpu, mesh<shares<dyn>>>");
}
