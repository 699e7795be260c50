// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trainings with optim::on_host have the bits of trainings whose places update, on every placement and with every
// policy: simulated devices have the bits of the CPU. Their memory is planned exactly, and their checkpoints are equal.

#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace optim = devplace::optim;
namespace collective = devplace::collective;

namespace {

/// Has parameters without state, with a rate of their own, and random numbers.
using hosted_net =
    nn::sequential<nn::frozen<nn::linear<6, 8>>, nn::relu, nn::dropout<std::ratio<1, 5>>,
                   nn::learning_rate_times<std::ratio<1, 2>, nn::linear<8, 24>>, nn::relu, nn::linear<24, 3>>;
/// 371,000 parameters: in float two chunks, the second one not whole.
using large_net = nn::sequential<nn::linear<6, 600>, nn::relu,
                                 nn::learning_rate_times<std::ratio<1, 2>, nn::linear<600, 600>>, nn::linear<600, 3>>;
using hosted_cpu = dp::on<dp::cpu>;
using one_device = dp::on<dp::cuda<0>>;
using three_devices = dp::replicated<2, 0, 1>;
using each_parameter = collective::buckets<1, 1>;
using shared_buckets = collective::sharded_all_reduce<collective::direct, each_parameter>;
constexpr optim::adam adam{.learning_rate = 0.02, .weight_decay = 0.01};

template <class P> using sample_type = std::conditional_t<std::is_same_v<P, double>, double, float>;

/// The state after each of several steps on batches of different sizes, also one without samples.
template <class Net, class Where, class P, class Policy, std::size_t Batches, class Rule>
std::vector<std::vector<double>> train(const Rule& rule, double max_norm = 0) {
  dp::model<Net, Where, P> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1}, rule, Policy{}, dp::accumulate<Batches>{}};
  if (max_norm != 0) step.clip({.max_norm = max_norm});
  if constexpr (dp::scales_losses<P>) step.scale_losses({.initial_scale = 1 << 21, .growth_interval = 3});
  std::vector<std::vector<double>> found;
  for (const std::size_t rows : std::vector<std::size_t>{12, 5, 0, 33, 9, 8}) {
    step(dp::to_batch<Where>(dp::test::integer_samples<sample_type<P>, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    if (Batches != 1 && found.size() % Batches == 0) {
      found.emplace_back();
      continue;
    }
    const auto state = step.state();
    auto& all = found.emplace_back(state.parameters.begin(), state.parameters.end());
    for (const auto& arena : state.optimizer.arenas) all.insert(all.end(), arena.begin(), arena.end());
    for (const std::byte value : state.optimizer.step_memory) all.push_back(std::to_integer<int>(value));
    all.push_back(static_cast<double>(state.scaler.skipped_steps));
  }
  return found;
}

/// Compares a training on the host with one on `Expected`; the parameters must change.
template <class Net, class Where, class P, class Policy, std::size_t Batches = 1, class Expected = Where, class Rule>
void check_hosted(const Rule& rule, double max_norm = 0) {
  INFO(dp::placement_name<Where>() << ", norm " << max_norm);
  using expected_policy = std::conditional_t<std::is_same_v<Expected, Where>, Policy, collective::all_reduce<>>;
  const auto expected = train<Net, Expected, P, expected_policy, Batches>(rule, max_norm);
  const auto found = train<Net, Where, P, Policy, Batches>(optim::on_host<Rule>(rule), max_norm);
  CHECK((found == expected));
  CHECK_FALSE((found.front() == found.back()));
}
template <class P = float, class Rule> void check_rule(const Rule& rule) {
  check_hosted<hosted_net, one_device, P, collective::all_reduce<>, 1, hosted_cpu>(rule);
}

template <class Where, class Policy = collective::default_policy_t<Where>> void check_placement() {
  check_hosted<hosted_net, Where, float, Policy>(adam);
  check_hosted<hosted_net, Where, float, Policy>(adam, 0.05);
}

/// Compares trainings in several processes, played by threads.
template <class Policy, class Where = dp::across<dp::cuda<0>>, std::size_t Count = 2>
void check_processes(double max_norm = 0) {
  std::vector<std::vector<double>> found[Count], expected[Count];
  dp::test::in_processes(
      static_cast<int>(Count),
      [&](const dp::process_group& group) {
        const dp::process_scope scope{group};
        const auto rank = static_cast<std::size_t>(group.rank());
        expected[rank] = train<hosted_net, Where, float, Policy, 1>(adam, max_norm);
        found[rank] = train<hosted_net, Where, float, Policy, 1>(optim::on_host<optim::adam>(adam), max_norm);
      },
      600);
  for (std::size_t rank = 0; rank != Count; ++rank) CHECK((found[rank] == expected[rank]));
  CHECK_FALSE((found[0].front() == found[0].back()));
}

std::size_t pinned_bytes() { return dp::memory_statistics<dp::pinned>().allocated; }

/// Compares the plan with the memory in use.
template <class Net, class Where, class P, class Policy = collective::all_reduce<>, class Rule>
void check_plan(const Rule& rule) {
  INFO(dp::placement_name<Where>());
  using model_type = dp::model<Net, Where, P>;
  using hosted_rule = optim::on_host<Rule>;
  using plan = dp::memory_plan<model_type, dp::batch<24>, hosted_rule, Policy>;
  using on_device = dp::memory_plan<model_type, dp::batch<24>, Rule, Policy>;
  STATIC_REQUIRE(plan::optimizer_state == 0);
  STATIC_REQUIRE(plan::bytes + on_device::optimizer_state == on_device::bytes);
  STATIC_REQUIRE(on_device::host_state == 0);
  CHECK(pinned_bytes() == 0);
  {
    using device = dp::primary_place_t<Where>;
    model_type model{dp::seed{9}};
    using policy = std::conditional_t<dp::stores_shares<Where>, collective::default_policy_t<Where>, Policy>;
    dp::trainer step{model, nn::cross_entropy{}, hosted_rule(rule), policy{}};
    const auto x = dp::to_batch<Where>(dp::test::integer_samples<sample_type<P>, 6>(24));
    const auto y = dp::to_batch<Where>(dp::test::square_labels(24, 3));
    step(x, y).item();
    CHECK(pinned_bytes() == plan::host_state);
    CHECK(dp::memory_statistics<dp::pinned>().of(dp::memory_purpose::optimizer_state) == plan::host_state);
    CHECK(dp::memory_statistics<device>().of(dp::memory_purpose::optimizer_state) == 0);
    const auto on_host = dp::memory_statistics<dp::pinned>().allocations;
    const auto on_place = dp::memory_statistics<device>().allocations;
    for (int i = 0; i < 3; ++i) step(x, y);
    CHECK(dp::memory_statistics<dp::pinned>().allocations == on_host);
    CHECK(dp::memory_statistics<device>().allocations == on_place);
  }
  CHECK(pinned_bytes() == 0);
}

/// A training by `Rule` that continues from a checkpoint of one by `From` has the bits of one without interruption.
template <class Where, class From, class Rule> void check_continued(const From& from, const Rule& rule) {
  const support::temporary_folder folder;
  const std::string path = folder.file("x.safetensors");
  const auto x = dp::to_batch<Where>(dp::test::integer_samples<float, 6>(12));
  const auto y = dp::to_batch<Where>(dp::test::square_labels(12, 3));
  dp::model<hosted_net, Where> first{dp::seed{1}}, second{dp::seed{2}};
  dp::trainer before{first, nn::cross_entropy{}, from};
  dp::trainer after{second, nn::cross_entropy{}, rule};
  after(x, y);
  for (int i = 0; i < 3; ++i) before(x, y);
  dp::save_checkpoint(before, {1, 2}, path);
  CHECK(dp::load_checkpoint(after, path) == dp::training_position{1, 2});
  for (int i = 0; i < 3; ++i) before(x, y), after(x, y);
  const auto expected = before.state();
  CHECK(after.state().parameters == expected.parameters);
  CHECK(after.optimizer().rule().learning_rate == before.optimizer().rule().learning_rate);
  if constexpr (std::is_same_v<optim::saved_rule_t<From>, optim::saved_rule_t<Rule>>) {
    after.restore(expected);
    CHECK(after.state().optimizer.arenas == expected.optimizer.arenas);
  }
}

}  // namespace

TEST_CASE("on_host has the bits of the CPU", "[train]") {
  check_rule(adam);
  check_rule(optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  check_rule(optim::plain_sgd{.learning_rate = 0.1});
  check_rule<double>(optim::rmsprop{.learning_rate = 0.01, .momentum = 0.5});
}

TEST_CASE("Adam's state for 784-256-10 lies on the host", "[train]") {
  using network = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
  using model_t = dp::model<network, dp::cuda<0>>;
  using rule = dp::optim::on_host<dp::optim::adam>;
  using plan = dp::memory_plan<model_t, dp::batch<64>, rule>;
  static_assert(plan::optimizer_state == 0 && plan::host_state == 4070976);
  model_t model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, rule{{.learning_rate = 1e-3}}};
  CHECK(pinned_bytes() == plan::host_state);
}

TEST_CASE("on_host wraps rules that wrap others", "[train]") {
  check_rule(optim::scheduled{optim::decay_of_matrices{optim::adamw{.learning_rate = 0.02, .weight_decay = 0.1}},
                              optim::linear{.steps = 3}.then(optim::cosine{.steps = 9})});
}

TEST_CASE("on the CPU on_host is the rule itself", "[train]") {
  check_hosted<hosted_net, hosted_cpu, float, collective::all_reduce<>>(adam);
  using model_type = dp::model<hosted_net, hosted_cpu>;
  using plan = dp::memory_plan<model_type, dp::batch<24>, optim::on_host<optim::adam>>;
  STATIC_REQUIRE(plan::host_state == 0);
  STATIC_REQUIRE(plan::bytes == dp::memory_plan<model_type, dp::batch<24>, optim::adam>::bytes);
}

TEST_CASE("on_host in mixed precision, with skipped steps", "[train]") {
  check_rule<dp::mixed<dp::bf16>>(adam);
  check_rule<dp::mixed<dp::half>>(adam);
  CHECK(
      train<hosted_net, one_device, dp::mixed<dp::half>, collective::all_reduce<>, 1>(optim::on_host<optim::adam>(adam))
          .back()
          .back() > 0);
}

TEST_CASE("on_host copies the parameters of large networks in several chunks", "[train]") {
  STATIC_REQUIRE(dp::runtime::network_plan<large_net>::parameter_elements > optim::host_chunk<float>);
  check_hosted<large_net, one_device, float, collective::all_reduce<>, 1, hosted_cpu>(adam);
  check_plan<large_net, one_device, float>(adam);
}

TEST_CASE("on_host updates replicas once", "[train]") {
  check_placement<three_devices>();
  check_placement<three_devices, collective::scatter_gather>();
  check_hosted<hosted_net, three_devices, float, collective::ring_all_reduce, 2>(adam);
}

TEST_CASE("on_host updates shares", "[train]") {
  check_placement<three_devices, shared_buckets>();
  check_hosted<hosted_net, three_devices, dp::mixed<dp::bf16>, shared_buckets, 2>(adam);
}

TEST_CASE("on_host updates models in shares", "[train]") {
  check_placement<dp::fully_sharded<0, 1, 2>>();
  using meshed = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>;
  check_hosted<hosted_net, meshed, dp::mixed<dp::half>, collective::default_policy_t<meshed>, 2>(adam, 0.05);
}

TEST_CASE("on_host updates in each of several processes", "[train]") {
  check_processes<collective::all_reduce<>>(0.05);
  check_processes<collective::sharded_all_reduce<>>();
  check_processes<collective::scatter_gather>();
  using in_shares = dp::across<dp::cuda<0>, dp::mesh<dp::shares<dp::dyn>>>;
  check_processes<collective::default_policy_t<in_shares>, in_shares>(0.05);
  using in_pairs = dp::across<dp::cuda<0>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2>>>;
  check_processes<collective::default_policy_t<in_pairs>, in_pairs, 4>(0.05);
}

TEST_CASE("the memory of on_host is planned", "[train]") {
  check_plan<hosted_net, one_device, float>(adam);
  check_plan<hosted_net, one_device, dp::mixed<dp::half>>(optim::plain_sgd{});
  check_plan<hosted_net, three_devices, double>(optim::sgd{.momentum = 0.9});
  check_plan<hosted_net, three_devices, float, shared_buckets>(adam);
  check_plan<hosted_net, three_devices, float, collective::scatter_gather>(adam);
  check_plan<hosted_net, dp::fully_sharded<0, 1, 2>, float>(adam);
  check_plan<hosted_net, dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>, float>(adam);
}

TEST_CASE("trainings continue from checkpoints with and without on_host", "[train]") {
  check_continued<one_device>(adam, optim::on_host<optim::adam>());
  check_continued<three_devices>(optim::on_host<optim::adam>(adam), optim::adam{});
  check_continued<one_device>(optim::sgd{.learning_rate = 0.1}, optim::on_host<optim::plain_sgd>());
}
