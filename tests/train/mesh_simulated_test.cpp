// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training on meshes of replicas and shares: equal bits as on one place where sums are exact, the same bits for
// processes as for places of one process, and plans and traffic as measured.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/parallel.hpp>
#include <devplace/parallel/across_processes.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/exact_training.hpp"
#include "support/forked_group.hpp"
#include "support/labelled_samples.hpp"
#include "support/sanitizers.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::train_exactly;

namespace {

/// Each layer is a unit.
constexpr std::size_t each_layer = 1;
template <std::size_t Replicas, std::size_t Shares, int... I>
using on_mesh = dp::spread<dp::mesh<dp::replicas<Replicas>, dp::shares<Shares, each_layer>>, I...>;
using two_by_two = on_mesh<2, 2, 0, 1, 2, 3>;
using three_by_two = on_mesh<3, 2, 0, 1, 2, 3, 4, 5>;
using two_by_three = on_mesh<2, 3, 5, 4, 3, 2, 1, 0>;
using two = dp::spread<dp::mesh<dp::shares<2, each_layer>>, 0, 1>;
/// Processes with one place each: in groups of `Shares`, or in `Replicas` groups.
template <class Place, std::size_t Shares>
using groups_of = dp::across<Place, dp::mesh<dp::replicas<dp::dyn>, dp::shares<Shares, each_layer>>>;
template <class Place, std::size_t Replicas>
using copies_on = dp::across<Place, dp::mesh<dp::replicas<Replicas>, dp::shares<dp::dyn, each_layer>>>;

using net = nn::sequential<nn::linear<6, 33>, nn::batch_norm<33, nn::over_all_places>, nn::relu,
                           nn::frozen<nn::linear<33, 20>>, nn::layer_norm<20>, nn::linear<20, 3>>;

/// The parameters, buffers and optimizer's state, and the mean loss, after steps.
template <class Where, class P = float, class Engine = collective::direct> std::vector<double> train() {
  using policy = dp::test::policy_for<Where, Engine>;
  using input = typename dp::model<net, Where, P>::input_type;
  dp::model<net, Where, P> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1}, dp::optim::adamw{.learning_rate = 0.01}, policy{}};
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 13}) {
    if (rows == 64) step.clip({.max_norm = 0.1});
    step(dp::to_batch<Where>(dp::test::integer_samples<input, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
  }
  const auto state = step.state();
  std::vector<double> result{step.mean_loss()};
  result.insert(result.end(), state.parameters.begin(), state.parameters.end());
  result.insert(result.end(), state.buffers.begin(), state.buffers.end());
  for (const auto& arena : state.optimizer.arenas) result.insert(result.end(), arena.begin(), arena.end());
  return result;
}

/// Requires that f(), run as each of several processes, returns the expected value.
template <class F> void check_processes(int count, const std::vector<double>& expected, const F& f) {
  const auto compare = [&](const dp::process_group& processes) {  // in threads, where checks would race
    const dp::process_scope scope{processes};
    if (f() != expected) throw std::logic_error("rank " + std::to_string(processes.rank()) + " has other bits.");
  };
  CHECK_NOTHROW(dp::test::in_processes(count, compare));
}
template <class Where, class Mesh, class P = float, class Engine = collective::direct> void check_groups() {
  INFO(dp::placement_name<Where>() << ", engine " << Engine::name);
  const std::vector<double> expected = train<Mesh, P, Engine>();
  check_processes(static_cast<int>(dp::local_place_count<Mesh>), expected, [] { return train<Where, P, Engine>(); });
}

/// Counts the bytes that collectives of several processes move: the first process of each group counts for all.
struct moved_bytes {
  std::atomic<std::size_t> all{0}, in_pairs{0};
};
class counting_communicator : public dp::parallel::across_by_rank<dp::backend::cpu> {
  using base = dp::parallel::across_by_rank<dp::backend::cpu>;

 public:
  counting_communicator(std::span<const int> ordinals, const dp::process_group& processes, moved_bytes& moved)
      : base(ordinals, processes), moved_(&moved) {}
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    add(2 * count * sizeof(T));
    base::all_reduce(buffers, count, op);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    add(count * sizeof(T));
    base::broadcast(buffers, count, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
    add(begins.back() * sizeof(T));
    base::reduce_scatter(buffers, begins, op);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    add(begins.back() * sizeof(T));
    base::all_gather(buffers, begins);
  }

 private:
  void add(std::size_t bytes) {
    if (first_rank() != 0) return;
    const std::size_t by_all = static_cast<std::size_t>(size() - 1) * bytes;
    moved_->all += by_all;
    if (size() == 2) moved_->in_pairs += by_all;
  }
  moved_bytes* moved_;
};
struct counting : collective::direct {
  static constexpr std::string_view name = "counting";
  moved_bytes* moved = nullptr;
  template <class Backend> using communicator_across = counting_communicator;
  template <class Backend>
  counting_communicator connect_across(std::span<const int> ordinals, const dp::process_group& processes) const {
    return {ordinals, processes, *moved};
  }
};

/// Reduces gradients between pairs of processes a number of times, of which 1 is right.
template <int Times> class repeating_communicator : public dp::parallel::across_by_rank<dp::backend::cpu> {
  using base = dp::parallel::across_by_rank<dp::backend::cpu>;

 public:
  using base::base;
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    const bool of_gradients = size() == 2 && std::is_same_v<T, float> && count > dp::runtime::gradient_tail;
    for (int i = 0; i != (of_gradients ? Times : 1); ++i) base::all_reduce(buffers, count, op);
  }
};
template <int Times> struct repeating : collective::direct {
  static constexpr std::string_view name = "repeating";
  template <class Backend> using communicator_across = repeating_communicator<Times>;
  template <class Backend>
  repeating_communicator<Times> connect_across(std::span<const int> ordinals, const dp::process_group& group) const {
    return {ordinals, group};
  }
};
/// The state of the first process of two groups of three.
template <int Times> std::vector<double> train_repeating() {
  std::vector<double> state;
  dp::test::in_processes(6, [&](const dp::process_group& processes) {
    const dp::process_scope scope{processes};
    const auto own = train<groups_of<dp::cpu, 3>, float, repeating<Times>>();
    if (processes.is_main()) state = own;
  });
  return state;
}

/// The peak of a training on device `I`; throws if the second step allocates.
template <int I, class Where, class P, class Engine> std::size_t peak_memory() {
  using model_type = dp::model<net, Where, P>;
  const auto x = dp::to_batch<Where>(dp::test::integer_samples<typename model_type::input_type, 6>(12));
  const auto y = dp::to_batch<Where>(dp::test::square_labels(12, 3));
  dp::reset_peak_memory<dp::cuda<I>>();
  const std::size_t before = dp::memory_statistics<dp::cuda<I>>().allocated;
  model_type model{dp::seed{5}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adamw{}, collective::gather_units<Engine>{}};
  step.prepare(12);
  step(x, y);
  const auto allocations = dp::memory_statistics<dp::cuda<I>>().allocations;
  step(x, y);
  if (dp::memory_statistics<dp::cuda<I>>().allocations != allocations) throw std::logic_error("a step allocates.");
  return dp::memory_statistics<dp::cuda<I>>().peak - before;
}
template <class Where, class P, class Engine, class... Processes>
constexpr std::size_t planned_memory = dp::memory_plan<dp::model<net, Where, P>, dp::batch<12>, dp::optim::adamw,
                                                       collective::gather_units<Engine>, Processes...>::bytes;
template <class Where, class P, class Engine> void check_memory() {
  INFO(dp::placement_name<Where>() << " with the engine " << Engine::name);
  CHECK(peak_memory<0, Where, P, Engine>() == planned_memory<Where, P, Engine>);
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
  check_processes(2, train<two_by_two>(), [] { return train<dp::across<two>>(); });
}

TEST_CASE("groups of processes have the bits of one place where sums are exact", "[train]") {
  const auto expected = train_exactly<dp::cpu>();
  check_processes(4, expected, [] { return train_exactly<groups_of<dp::cpu, 2>>(); });
  check_processes(6, expected, [] { return train_exactly<groups_of<dp::cuda<0>, 3>>(); });
  check_processes(6, expected, [] { return train_exactly<copies_on<dp::cpu, 3>>(); });
}

TEST_CASE("groups of processes train as a mesh in one process", "[train]") {
  check_groups<groups_of<dp::cpu, 2>, two_by_two>();
  check_groups<groups_of<dp::cuda<0>, 2>, three_by_two, dp::mixed<dp::bf16>>();
  check_groups<groups_of<dp::cpu, 3>, two_by_three, double, collective::ring>();
  check_groups<groups_of<dp::cuda<1>, 2>, two_by_two, dp::mixed<dp::half>>();
  check_groups<copies_on<dp::cpu, 2>, two_by_three>();
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("groups of processes with shared memory train as a mesh in one process", "[train]") {
  const auto trained = []<class Where>(Where) {
    const std::vector<double> numbers = train<Where>();
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  const auto four = support::in_forked_group(4, [&] { return trained(groups_of<dp::cpu, 2>{}); });
  const auto six = support::in_forked_group(6, [&] { return trained(copies_on<dp::cpu, 3>{}); });
  CHECK(support::differences(four, trained(two_by_two{})) == "");
  CHECK(support::differences(six, trained(three_by_two{})) == "");
}
#endif

TEST_CASE("a reduction between groups that is left out or doubled changes the parameters", "[train]") {
  const auto expected = train<two_by_three>();
  CHECK((train_repeating<1>() == expected));
  CHECK((train_repeating<0>() != expected));
  CHECK((train_repeating<2>() != expected));
}

TEST_CASE("groups of one process are replicas, and one group is of shares alone", "[train]") {
  check_groups<groups_of<dp::cpu, 1>, dp::replicated<0, 1, 2>>();
  check_groups<groups_of<dp::cpu, 3>, dp::replicated<0, 1, 2>>();
  check_groups<copies_on<dp::cpu, 3>, dp::replicated<0, 1, 2>>();
  check_groups<copies_on<dp::cpu, 1>, dp::replicated<0, 1, 2>>();
}

TEST_CASE("processes that do not fill their groups are refused", "[train]") {
  const auto refusal = []<class Where>(Where, int count) {
    std::vector<std::string> texts(static_cast<std::size_t>(count));
    dp::test::in_processes(count, [&](const dp::process_group& processes) {
      const dp::process_scope scope{processes};
      try {
        const dp::model<net, Where> model{dp::seed{1}};
      } catch (const dp::argument_error& e) {
        texts[static_cast<std::size_t>(processes.rank())] = e.what();
      }
    });
    for (const std::string& text : texts) CHECK(text == texts[0]);
    return texts[0];
  };
  CHECK(
      refusal(groups_of<dp::cpu, 2>{}, 3) ==
      "devplace: model: across<cpu, mesh<replicas<dyn>, shares<2>>> needs a multiple of 2 processes, and there are 3; "
      "start 4 processes, or name another mesh.");
  CHECK(
      refusal(copies_on<dp::cpu, 3>{}, 2) ==
      "devplace: model: across<cpu, mesh<replicas<3>, shares<dyn>>> needs a multiple of 3 processes, and there are 2; "
      "start 3 processes, or name another mesh.");
  using traffic = dp::step_traffic<dp::model<net, groups_of<dp::cpu, 2>>, collective::gather_units<>>;
  CHECK_THROWS_AS(traffic{3}, dp::argument_error);
}

TEST_CASE("memory on a mesh is planned exactly", "[train]") {
  check_memory<two_by_two, float, collective::direct>();
  check_memory<two_by_two, dp::mixed<dp::bf16>, collective::direct>();
  check_memory<three_by_two, float, collective::ring>();
}

TEST_CASE("memory of groups of processes is planned exactly", "[train]") {
  std::vector<std::size_t> peaks(4);
  dp::test::in_processes(4, [&](const dp::process_group& processes) {
    const dp::process_scope scope{processes};
    using engine = collective::direct;
    // Each process has a device of its own, because the processes are threads here.
    constexpr std::size_t (*peak_of[])() = {&peak_memory<0, groups_of<dp::cuda<0>, 2>, float, engine>,
                                            &peak_memory<1, groups_of<dp::cuda<1>, 2>, float, engine>,
                                            &peak_memory<2, groups_of<dp::cuda<2>, 2>, float, engine>,
                                            &peak_memory<3, groups_of<dp::cuda<3>, 2>, float, engine>};
    const auto rank = static_cast<std::size_t>(processes.rank());
    peaks[rank] = peak_of[rank]();
  });
  CHECK(peaks[0] == planned_memory<groups_of<dp::cuda<0>, 2>, float, collective::direct, dp::processes<4>>);
  CHECK(peaks[1] <= peaks[0]);
  CHECK(peaks[2] == peaks[0]);
  CHECK(peaks[3] == peaks[1]);
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

TEST_CASE("the traffic along each axis of groups of processes is that of the collectives", "[train]") {
  using where = groups_of<dp::cpu, 3>;
  using policy = collective::gather_units<counting>;
  moved_bytes moved;
  std::size_t all = 0, in_pairs = 0;
  CHECK_NOTHROW(dp::test::in_processes(6, [&](const dp::process_group& processes) {
    const dp::process_scope scope{processes};
    dp::model<net, where> model{dp::seed{5}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adamw{}, policy{{{}, &moved}}};
    const auto x = dp::to_batch<where>(dp::test::integer_samples<float, 6>(12));
    const auto y = dp::to_batch<where>(dp::test::square_labels(12, 3));
    step(x, y);
    processes.barrier();
    const std::size_t before = moved.all, before_in_pairs = moved.in_pairs;
    processes.barrier();
    step(x, y);
    processes.barrier();
    if (!processes.is_main()) return;
    all = moved.all - before;
    in_pairs = moved.in_pairs - before_in_pairs;
  }));
  constexpr dp::step_traffic<dp::model<net, where>, policy> traffic{6};
  CHECK(all == traffic.bytes);
  CHECK(in_pairs == traffic.between_replicas);
  CHECK(in_pairs > 0);
  // On devices, which keep two units, the bytes are those of a mesh in one process.
  constexpr dp::step_traffic<dp::model<net, groups_of<dp::cuda<0>, 3>>, collective::gather_units<>> on_devices{6};
  constexpr dp::step_traffic<dp::model<net, two_by_three>, collective::gather_units<>> in_one_process;
  STATIC_REQUIRE(on_devices.bytes == in_one_process.bytes);
  STATIC_REQUIRE(on_devices.between_replicas == in_one_process.between_replicas);
  STATIC_REQUIRE(on_devices.parameters == in_one_process.parameters);
}

TEST_CASE("the plan of groups of processes is that of shares, with memory for exchanges in the groups", "[train]") {
  using groups = dp::model<net, groups_of<dp::cpu, 2>>;
  using policy = collective::gather_units<>;
  using plan = dp::memory_plan<groups, dp::batch<64>, dp::optim::adamw, policy, dp::processes<6>>;
  using shares = dp::model<net, dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, each_layer>>>>;
  using of_group = dp::memory_plan<shares, dp::batch<22>, dp::optim::adamw, policy, dp::processes<2>>;
  STATIC_REQUIRE(plan::bytes == of_group::bytes);
  // Four pages of small messages and four portions for each of a trainer's groups, the model's, and that of all.
  STATIC_REQUIRE(plan::exchange == 4 * 4 * (4096 + (1 << 20)) + 2 * (4096 / 2) + 4096 / 3 + 4096 / 6);
}

TEST_CASE("a mesh's placement has its axes in its name", "[train]") {
  CHECK(dp::placement_name<two_by_two>() == "spread<mesh<replicas<2>, shares<2>>, cuda:0, cuda:1, cuda:2, cuda:3>");
  CHECK(dp::placement_name<two>() == "fully_sharded<cuda:0, cuda:1>");
  CHECK(dp::placement_name<dp::across<two>>() == "across<fully_sharded<cuda:0, cuda:1>>");
  CHECK(dp::placement_name<dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn>>>>() == "across<cpu, mesh<shares<dyn>>>");
  CHECK(dp::placement_name<groups_of<dp::cpu, 8>>() == "across<cpu, mesh<replicas<dyn>, shares<8>>>");
  CHECK(dp::placement_name<copies_on<dp::cuda<0>, 2>>() == "across<cuda:0, mesh<replicas<2>, shares<dyn>>>");
}
