// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of each place of a model in shares, and the bytes that a step moves between the places, are those of
// memory_plan and step_traffic.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ratio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::recorded_call;

namespace {

using net = nn::sequential<nn::linear<6, 90>, nn::batch_norm<90, nn::over_all_places>, nn::relu,
                           nn::frozen<nn::linear<90, 30>>, nn::dropout<std::ratio<1, 5>>,
                           nn::recomputed<nn::sequential<nn::linear<30, 30>, nn::layer_norm<30>>>,
                           nn::learning_rate_times<std::ratio<1, 2>, nn::linear<30, 3>>>;
/// Places in shares whose units are layers, small groups of layers, and the whole network.
template <int... I> using each_layer = dp::spread<dp::mesh<dp::shares<sizeof...(I), 1>>, I...>;
template <int... I> using two_units = dp::spread<dp::mesh<dp::shares<sizeof...(I), 8000>>, I...>;
/// The units are kept from the forward pass until the backward pass.
template <int... I> using keeping_units = dp::spread<dp::mesh<dp::shares<sizeof...(I), 1, dp::gathered::kept>>, I...>;

dp::memory_usage usage(int ordinal) {
  const dp::memory_usage of[] = {dp::memory_statistics<dp::cuda<0>>(), dp::memory_statistics<dp::cuda<1>>(),
                                 dp::memory_statistics<dp::cuda<2>>(), dp::memory_statistics<dp::cuda<3>>()};
  return of[ordinal];
}
void reset_peaks() {
  dp::reset_peak_memory<dp::cuda<0>>();
  dp::reset_peak_memory<dp::cuda<1>>();
  dp::reset_peak_memory<dp::cuda<2>>();
  dp::reset_peak_memory<dp::cuda<3>>();
}

/// Compares the peak of a training with the plan: equal on the first place, which has the largest shares, and at most
/// on the others. No step after the first one allocates.
template <class Where, class P, class Engine> void check_memory(bool clips) {
  using model_type = dp::model<net, Where, P>;
  using policy = collective::gather_units<Engine>;
  using plan = dp::memory_plan<model_type, dp::batch<64>, dp::optim::adam, policy>;
  using input = typename model_type::input_type;
  INFO(dp::placement_name<Where>() << ", engine " << Engine::name << (clips ? ", clips" : ""));
  const auto x = distribute<Where>(dp::test::integer_samples<input, 6>(64));
  const auto y = distribute<Where>(dp::test::square_labels(64, 3));
  constexpr auto ordinals = dp::detail::mesh_of<Where>::ordinals;
  std::vector<dp::memory_usage> before;
  for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k) before.push_back(usage(ordinals[k]));
  reset_peaks();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
  if (clips) step.clip({.max_norm = 1});
  step(x, y);
  std::vector<dp::memory_usage> first;
  for (std::size_t k = 0; k != before.size(); ++k) first.push_back(usage(ordinals[k]));
  for (int i = 0; i != 3; ++i) step(x, y);
  static_cast<void>(step.mean_loss());
  const std::size_t planned = plan::bytes + (clips && !dp::scales_losses<P> ? plan::clipping : 0);
  for (std::size_t k = 0; k != before.size(); ++k) {
    const dp::memory_usage now = usage(ordinals[k]);
    CHECK(now.allocations == first[k].allocations);
    const std::size_t peak = now.peak - before[k].allocated;
    CHECK(peak <= planned);
    CHECK(peak > planned / 2);
    if (k == 0) {
      CHECK(peak == planned);
      CHECK(now.of(dp::memory_purpose::optimizer_state) - before[0].of(dp::memory_purpose::optimizer_state) ==
            plan::optimizer_state);
    }
  }
}

// Each precision and each engine is checked with and without clipping, and with units of one layer and of several.
template <class P, class Engine> void check_memory_by_layers() {
  check_memory<each_layer<2, 0, 1>, P, Engine>(false);
  check_memory<two_units<0, 1>, P, Engine>(true);
}
template <class P, class Engine> void check_memory_at_once() {
  check_memory<dp::fully_sharded<3, 0, 1, 2>, P, Engine>(false);
  check_memory<keeping_units<1, 2>, P, Engine>(true);
}

/// A recording communicator that can round gradients.
template <class Backend> struct preparing_communicator : dp::test::recording_communicator<Backend> {
  preparing_communicator(std::span<const int> ordinals, const std::reference_wrapper<dp::test::call_log>& log)
      : dp::test::recording_communicator<Backend>(ordinals, log) {}
  void prepare(std::size_t, std::size_t) {}
};
struct recording_in_bf16 {
  dp::test::call_log* log = nullptr;

  using wire_type = dp::bf16;
  static constexpr std::string_view name = "recording in bf16";
  template <class Backend>
  using communicator = dp::parallel::rounding<Backend, preparing_communicator<Backend>, wire_type>;
  template <std::same_as<dp::backend::cuda> Backend> communicator<Backend> connect(std::span<const int> places) const {
    return communicator<Backend>(places, std::ref(*log));
  }
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
};

/// Bytes between `n` places in the recorded calls: each place receives or sends the others' parts of a buffer once, or
/// twice in an all_reduce.
std::size_t bytes_of(const std::vector<recorded_call>& calls, std::size_t n) {
  std::size_t sum = 0;
  for (const recorded_call& call : calls) sum += (n - 1) * call.count * call.element_bytes;
  return sum;
}

/// The number of units with gradients.
template <class Units> std::size_t trained_units() {
  std::size_t count = 0;
  for (std::size_t u = 0; u != Units::size; ++u) count += Units::at(u).trained.count == 0 ? 0u : 1u;
  return count;
}

template <class Where, class P, class Engine> void check_traffic() {
  using model_type = dp::model<net, Where, P>;
  using policy = collective::gather_units<Engine>;
  using input = typename model_type::input_type;
  constexpr dp::step_traffic<model_type, policy> traffic;
  INFO(dp::placement_name<Where>() << ", engine " << Engine::name);
  dp::test::call_log log;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}, policy{.engine = {&log}}};
  const auto x = distribute<Where>(dp::test::integer_samples<input, 6>(16));
  const auto y = distribute<Where>(dp::test::square_labels(16, 3));
  const std::size_t n = dp::local_place_count<Where>;
  for (const bool clips : {false, true}) {
    if (clips) step.clip({.max_norm = 1});
    step(x, y);
    log.clear();
    step(x, y);
    const std::size_t reduced = 2 * bytes_of(log.of("all_reduce"), n);
    CHECK(bytes_of(log.of("all_gather"), n) == traffic.parameters);
    CHECK(bytes_of(log.of("broadcast"), n) == traffic.buffers);
    CHECK(bytes_of(log.of("reduce_scatter"), n) + reduced ==
          traffic.gradients + traffic.statistics + (clips ? traffic.clipping : 0));
    CHECK(log.of("reduce").empty());
    CHECK(log.of("reduce_scatter").size() == trained_units<dp::unit_plan<model_type>>());
  }
  CHECK(traffic.bytes == traffic.gradients + traffic.parameters + traffic.buffers + traffic.statistics);
  CHECK(traffic.statistics > 0);
  CHECK(traffic.buffers > 0);
}
template <class P> void check_traffic() {
  check_traffic<each_layer<2, 0, 1>, P, dp::test::recording>();
  check_traffic<two_units<0, 1, 2, 3>, P, dp::test::recording>();
  check_traffic<dp::fully_sharded<3, 0>, P, dp::test::recording>();
  check_traffic<keeping_units<1, 0>, P, dp::test::recording>();
}

}  // namespace

TEST_CASE("shares take the planned memory on each place in every precision", "[train]") {
  check_memory_by_layers<float, collective::direct>();
  check_memory_at_once<float, collective::direct>();
  check_memory_by_layers<double, collective::direct>();
  check_memory_at_once<dp::mixed<dp::bf16>, collective::direct>();
  check_memory_by_layers<dp::mixed<dp::half>, collective::direct>();
  check_memory_at_once<dp::mixed<dp::half>, collective::direct>();
}

TEST_CASE("shares take the planned memory with every engine", "[train]") {
  check_memory_at_once<float, collective::ring>();
  check_memory_by_layers<dp::mixed<dp::bf16>, collective::ring>();
  check_memory_by_layers<float, collective::wire<dp::bf16>>();
  check_memory_at_once<dp::mixed<dp::half>, collective::wire<dp::half>>();
}

TEST_CASE("a model in shares that only predicts has no gradients", "[train]") {
  using where = two_units<0, 1>;
  using model_type = dp::model<net, where>;
  using plan = dp::memory_plan<model_type, dp::batch<64>>;
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(64));
  auto y = distribute<where>(dp::tensor<float, dp::extents<dp::dyn, 3>, dp::cpu>(dp::extents<dp::dyn, 3>{64}));
  const std::size_t before = usage(0).allocated;
  reset_peaks();
  const model_type model{dp::seed{1}};
  model.predict_into(y, x);
  CHECK(usage(0).peak - before == plan::bytes);
  const std::size_t allocations = usage(0).allocations;
  model.predict_into(y, x);
  CHECK_FALSE(model.try_predict_into(y, x));
  CHECK(usage(0).allocations == allocations);
  const auto few = distribute<where>(dp::test::integer_samples<float, 6>(60));
  CHECK(model.try_predict_into(y, few) == dp::errc::shape_error);
  STATIC_REQUIRE(plan::gradients == 0);
}

TEST_CASE("the memory of a process's share is planned to the byte", "[train]") {
  using where = dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, 3000>>>;
  using model_type = dp::model<net, where>;
  using four =
      dp::memory_plan<model_type, dp::batch<66>, dp::optim::adam, collective::gather_units<>, dp::processes<4>>;
  using one = dp::memory_plan<model_type, dp::batch<17>, dp::optim::adam, collective::gather_units<>, dp::processes<1>>;
  STATIC_REQUIRE(four::parameters < one::parameters / 3);
  STATIC_REQUIRE(std::is_same_v<collective::default_policy_t<where>, collective::gather_units<>>);
  CHECK_NOTHROW(dp::test::in_processes(4, [](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
    std::optional<model_type> model;
    std::optional<dp::trainer<model_type, nn::cross_entropy, dp::optim::adam, collective::gather_units<>>> step;
    // One after the other, because the processes are threads here.
    for (int rank = 0; rank != group.size(); ++rank) {
      group.barrier();
      if (rank != group.rank()) continue;
      const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
      model.emplace(dp::seed{9});
      step.emplace(*model, nn::cross_entropy{}, dp::optim::adam{});
      step->prepare(66);
      const std::size_t allocated = dp::memory_statistics<dp::cpu>().allocated - before;
      if (group.is_main() ? allocated != four::bytes : allocated > four::bytes)
        throw std::logic_error("rank " + std::to_string(rank) + " has " + std::to_string(allocated) + " bytes, not " +
                               std::to_string(four::bytes) + ".");
    }
    group.barrier();
    const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
    group.barrier();
    const auto x = dp::to_batch<where>(dp::test::integer_samples<float, 6>(66));
    const auto y = dp::to_batch<where>(dp::test::square_labels(66, 3));
    group.barrier();
    (*step)(x, y);
    group.barrier();
    if (dp::memory_statistics<dp::cpu>().allocated - before != 66 * (6 * sizeof(float) + sizeof(std::int64_t)))
      throw std::logic_error("a step keeps other memory than the batch.");
    group.barrier();
  }));
}

TEST_CASE("a step in shares moves the planned bytes", "[train]") {
  check_traffic<float>();
  check_traffic<double>();
  check_traffic<dp::mixed<dp::bf16>>();
  check_traffic<dp::mixed<dp::half>>();
  check_traffic<each_layer<2, 0, 1>, float, recording_in_bf16>();
  check_traffic<two_units<0, 1>, dp::mixed<dp::half>, recording_in_bf16>();
}

TEST_CASE("shares move up to one and a half times the bytes of all_reduce", "[train]") {
  // Ten layers of 4,160 parameters; those of the last two units still lie on devices when backward begins, and backward
  // does not read those of the first.
  using layer = nn::sequential<nn::linear<64, 64>, nn::relu>;
  using five = nn::sequential<layer, layer, layer, layer, layer>;
  using deep = nn::sequential<five, five>;
  using shares = dp::model<deep, each_layer<0, 1, 2, 3>>;
  constexpr dp::step_traffic<shares, collective::gather_units<>> traffic;
  STATIC_REQUIRE(traffic.parameters == 3 * (10 + 7) * 4160 * 4);
  STATIC_REQUIRE(traffic.gradients == 3 * (10 * 4160 + 2 * 16) * 4);
  constexpr dp::step_traffic<dp::model<deep, dp::replicated<0, 1, 2, 3>>, collective::all_reduce<>> replicas;
  STATIC_REQUIRE(traffic.bytes < replicas.bytes * 3 / 2);
  STATIC_REQUIRE(traffic.bytes > replicas.bytes * 13 / 10);
  // A recomputed first layer reads its parameters in backward.
  using again = nn::sequential<nn::recomputed<nn::linear<64, 64>>, nn::relu, layer, layer, layer, layer, five>;
  constexpr dp::step_traffic<dp::model<again, each_layer<0, 1, 2, 3>>, collective::gather_units<>> of_again;
  STATIC_REQUIRE(of_again.bytes == traffic.bytes + 3 * 4160 * 4);
  // A process on the CPU has the last unit alone.
  using over_processes = dp::step_traffic<dp::model<deep, dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, 1>>>>,
                                          collective::gather_units<>>;
  STATIC_REQUIRE(over_processes{4}.bytes == traffic.bytes + 3 * 4160 * 4);
  STATIC_REQUIRE(over_processes{1}.bytes == 0);
  // Parameters that are kept are gathered once.
  constexpr dp::step_traffic<dp::model<deep, keeping_units<0, 1, 2, 3>>, collective::gather_units<>> of_kept;
  STATIC_REQUIRE(of_kept.parameters == 3 * 10 * 4160 * 4);
  STATIC_REQUIRE(of_kept.gradients == traffic.gradients);
}
