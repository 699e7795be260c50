// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives that a training step calls on a communicator, their order, and the state after a collective throws.
// The communicators are user-defined, since any type that models the concept works.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::call_log;
using dp::test::distribute;
using dp::test::parameters_of;
using dp::test::recording;

static_assert(dp::parallel::communicator<dp::test::recording_communicator<dp::backend::cuda>>);

namespace {

/// Records when the host enqueues a layer's passes.
struct noting {
  inline static call_log* log = nullptr;

  template <class In> using output = In;
  static void forward(const auto& c) {
    if (log != nullptr) log->note("forward from sample " + std::to_string(c.key.first_sample));
    c.output = c.input * 1;
  }
  static void backward(const auto& c) {
    if (log != nullptr) log->note("backward from sample " + std::to_string(c.key.first_sample));
    c.input_gradient = c.output_gradient * 1;
  }
};

/// Stochastic gradient descent that records when the host enqueues the update.
struct noting_rule {
  dp::optim::sgd rule{.learning_rate = 0.125, .momentum = 0.5};

  static constexpr std::size_t state_arenas = dp::optim::sgd::state_arenas;
  void validate() const {}
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    if (noting::log != nullptr) noting::log->note("update of cuda:" + std::to_string(a.ordinal));
    rule.step<Backend>(a);
  }
};

using net = nn::sequential<nn::linear<6, 8>, noting, nn::relu, nn::linear<8, 3>>;
using where = dp::replicated<2, 0, 1>;
using model_type = dp::model<net, where>;
/// Each parameter in its own bucket: bias and weight of the last layer, then bias and weight of the first.
using small = collective::buckets<1, 1>;
using all_reduce = collective::all_reduce<recording, small>;
using scatter_gather = collective::reduce_and_broadcast<recording, small>;
using sharded = collective::sharded_all_reduce<recording, small>;
/// Elements per bucket, padded to whole cache lines; the sums of weights and losses follow the last layer's bias.
const std::vector<std::size_t> bucket_sizes{16 + 16, 32, 16, 48};

template <class Policy> struct recorded_training {
  call_log log;
  model_type model{dp::seed{4}};
  dp::trainer<model_type, nn::cross_entropy, noting_rule, Policy> step{model, nn::cross_entropy{}, noting_rule{},
                                                                       Policy{.engine = {&log}}};

  recorded_training() { noting::log = &log; }
  recorded_training(const recorded_training&) = delete;
  recorded_training& operator=(const recorded_training&) = delete;
  ~recorded_training() { noting::log = nullptr; }

  auto operator()(std::size_t rows) {
    return step(distribute<where>(dp::test::integer_samples<float, 6>(rows)),
                distribute<where>(dp::test::square_labels(rows, 3)));
  }
  std::vector<std::vector<float>> parameters() const {
    return {parameters_of(model, 0), parameters_of(model, 1), parameters_of(model, 2)};
  }
  /// The address of each parameter's gradient on each place, in the order of the buckets.
  std::vector<std::vector<const void*>> gradient_pointers() {
    const auto x = distribute<where>(dp::test::integer_samples<float, 6>(3));
    auto [output, saved] = model.forward(x);
    const auto lease = model.backward(
        std::move(saved), nn::cross_entropy{}(output, distribute<where>(dp::test::square_labels(3, 3))).gradient);
    std::vector<std::vector<const void*>> all(4);
    for (std::size_t k = 0; k < 3; ++k) {
      all[0].push_back(lease.template only_on<3>(k).data());
      all[1].push_back(lease.template only_on<2>(k).data());
      all[2].push_back(lease.template only_on<1>(k).data());
      all[3].push_back(lease.template only_on<0>(k).data());
    }
    return all;
  }
};

const std::vector<std::string> passes{"forward from sample 0",  "backward from sample 0", "forward from sample 4",
                                      "backward from sample 4", "forward from sample 8",  "backward from sample 8"};

std::vector<std::string> passes_and(const std::vector<std::string>& more) {
  std::vector<std::string> all = passes;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The parameters after steps with the built-in engine.
std::vector<float> parameters_after(int steps) {
  model_type model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, noting_rule{}};
  for (int i = 0; i < steps; ++i)
    step(distribute<where>(dp::test::integer_samples<float, 6>(12)), distribute<where>(dp::test::square_labels(12, 3)));
  return parameters_of(model);
}

void check_buckets(const std::vector<dp::test::recorded_call>& calls,
                   const std::vector<std::vector<const void*>>& pointers, int root) {
  REQUIRE(calls.size() == bucket_sizes.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    INFO("bucket " << i);
    CHECK(calls[i].count == bucket_sizes[i]);
    CHECK(calls[i].op == dp::reduction::sum);
    CHECK(calls[i].root == root);
    CHECK(calls[i].buffers == pointers[i]);
  }
}

std::size_t bytes_of(const std::vector<dp::test::recorded_call>& calls) {
  return std::accumulate(calls.begin(), calls.end(), std::size_t{0},
                         [](std::size_t sum, const auto& call) { return sum + call.count * call.element_bytes; });
}

/// A communicator for one of two processes with the same batch; its devices have the ranks from 3 on.
template <class Backend> class one_of_two_processes {
 public:
  explicit one_of_two_processes(std::span<const int> ordinals)
      : work_(ordinals), ordinals_(ordinals.begin(), ordinals.end()) {}
  int size() const { return 2 * work_.size(); }
  int first_rank() const { return work_.size(); }
  int local_count() const { return work_.size(); }
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    work_.all_reduce(buffers, count, op);
    for (std::size_t k = 0; k < buffers.size(); ++k)
      dp::detail::for_each_index<Backend>(ordinals_[k], count, count, add_the_other<T>{buffers[k]});
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op, int) {
    all_reduce(buffers, count, op);
  }
  template <class T> void broadcast(std::span<T* const>, std::size_t, int) {}
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
    all_reduce(buffers, begins.back(), op);
  }
  template <class T> void all_gather(std::span<T* const>, std::span<const std::size_t>) {}

 private:
  template <class T> struct add_the_other {
    T* data;
    DEVPLACE_HD void operator()(std::size_t i) const { data[i] += data[i]; }
  };
  dp::parallel::direct<Backend> work_;
  std::vector<int> ordinals_;
};

struct two_processes {
  static constexpr bool spans_processes = true;
  template <class Backend> using communicator = one_of_two_processes<Backend>;
  template <class Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
};

}  // namespace

TEST_CASE("all_reduce: a call for each bucket from the last layer to the first, then all places update", "[parallel]") {
  recorded_training<all_reduce> train;
  const auto pointers = train.gradient_pointers();
  CHECK(train.log.communicators == 1);
  for (int step = 1; step <= 3; ++step) {
    train.log.clear();
    train(12);
    CHECK(train.log.order() == passes_and({"all_reduce", "all_reduce", "all_reduce", "all_reduce", "update of cuda:2",
                                           "update of cuda:0", "update of cuda:1"}));
    check_buckets(train.log.of("all_reduce"), pointers, -1);
  }
  CHECK(train.log.communicators == 1);
  // Each byte is sent to the two other places as a summand and comes back as a sum.
  constexpr dp::step_traffic<model_type, all_reduce> traffic;
  CHECK(traffic.bytes == 2 * 2 * bytes_of(train.log.of("all_reduce")));
  noting::log = nullptr;
  CHECK(parameters_of(train.model) == parameters_after(3));
}

TEST_CASE("scatter_gather: the first place gets the sums, updates, and broadcasts the parameters", "[parallel]") {
  recorded_training<scatter_gather> train;
  const auto pointers = train.gradient_pointers();
  for (int step = 1; step <= 3; ++step) {
    train.log.clear();
    train(12);
    CHECK(train.log.order() == passes_and({"reduce", "reduce", "reduce", "reduce", "update of cuda:2", "broadcast"}));
    check_buckets(train.log.of("reduce"), pointers, 0);
  }
  const auto broadcasts = train.log.of("broadcast");
  REQUIRE(broadcasts.size() == 1);
  CHECK(broadcasts[0].count == 16 + 32 + 16 + 48);
  CHECK(broadcasts[0].root == 0);
  std::vector<const void*> first_parameters;
  for (std::size_t k = 0; k < 3; ++k) first_parameters.push_back(train.model.parameter<0>(k).data());
  CHECK(broadcasts[0].buffers == first_parameters);
  constexpr dp::step_traffic<model_type, scatter_gather> traffic;
  const std::size_t bytes = bytes_of(train.log.of("reduce"));
  CHECK(traffic.gradients == 2 * bytes + 2 * bytes / 3);
  CHECK(traffic.parameters == 2 * bytes_of(broadcasts));
  noting::log = nullptr;
  CHECK(parameters_of(train.model) == parameters_after(3));
}

TEST_CASE("sharded_all_reduce: each place gets the sums of its shares, updates them, and gathers the others",
          "[parallel]") {
  recorded_training<sharded> train;
  const auto pointers = train.gradient_pointers();
  // The buckets have 2, 2, 1 and 3 lines; one line has the sums of weights and losses. The first place has 4 lines, the
  // second 3 including these sums, and the third 1.
  const std::vector<std::string> updates{"update of cuda:2", "update of cuda:2", "update of cuda:2", "update of cuda:2",
                                         "update of cuda:0", "update of cuda:0", "update of cuda:1"};
  const std::vector<std::string> gathers(4, "all_gather");
  const auto followed_by = [](std::vector<std::string> names, const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
    return names;
  };
  const std::vector<std::string> reductions{"reduce_scatter", "broadcast", "reduce_scatter", "reduce_scatter",
                                            "reduce_scatter"};
  for (int step = 1; step <= 3; ++step) {
    train.log.clear();
    train(12);
    CHECK(train.log.order() == passes_and(followed_by(followed_by(reductions, updates), gathers)));
    check_buckets(train.log.of("reduce_scatter"), pointers, -1);
  }
  const auto broadcasts = train.log.of("broadcast");
  REQUIRE(broadcasts.size() == 1);
  CHECK(broadcasts[0].count == 16);
  CHECK(broadcasts[0].root == 1);
  const auto gathered = train.log.of("all_gather");
  REQUIRE(gathered.size() == 4);
  CHECK(gathered[0].count == 16);
  CHECK(gathered[3].count == 48);
  for (std::size_t k = 0; k < 3; ++k) CHECK(gathered[3].buffers[k] == train.model.parameter<0>(k).data());
  constexpr dp::step_traffic<model_type, sharded> traffic;
  CHECK(traffic.gradients == 2 * bytes_of(train.log.of("reduce_scatter")) + 2 * bytes_of(broadcasts));
  CHECK(traffic.parameters == 2 * bytes_of(gathered));
  CHECK(traffic.bytes == dp::step_traffic<model_type, all_reduce>{}.bytes);
  CHECK(train.log.communicators == 1);
  noting::log = nullptr;
  CHECK(parameters_of(train.model) == parameters_after(3));

  // A norm also needs the largest gradient, and two digits of the sum of squares.
  noting::log = &train.log;
  train.step.clip({.max_norm = 1});
  train.log.clear();
  train(12);
  const std::vector<std::string> norm(2, "all_reduce");
  CHECK(train.log.order() == passes_and(followed_by(followed_by(followed_by(reductions, norm), updates), gathers)));
  const auto of_norm = train.log.of("all_reduce");
  REQUIRE(of_norm.size() == 2);
  CHECK(of_norm[0].count == 1);
  CHECK(of_norm[0].op == dp::reduction::max);
  CHECK(of_norm[1].count == 2);
  CHECK(of_norm[1].op == dp::reduction::sum);
  CHECK(traffic.clipping == 4 * bytes_of(of_norm));
  CHECK(traffic.gradients == 2 * bytes_of(train.log.of("reduce_scatter")) + 2 * bytes_of(train.log.of("broadcast")));
}

TEST_CASE("accumulated batches are reduced once, and flush reduces the rest", "[parallel]") {
  call_log log;
  model_type model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, noting_rule{}, all_reduce{.engine = {&log}}, dp::accumulate<3>{}};
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(5));
  const auto y = distribute<where>(dp::test::square_labels(5, 3));
  for (std::size_t batch = 1; batch <= 7; ++batch) {
    step(x, y);
    CHECK(log.collectives == batch / 3 * 4);
  }
  CHECK(step.flush());
  CHECK(log.collectives == 12);
  CHECK_FALSE(step.flush());
  CHECK(log.collectives == 12);
  // A failing flush loses only the accumulated gradients.
  const auto before = parameters_of(model);
  step(x, y);
  log.throw_at = 13;
  CHECK_THROWS_WITH(step.flush(), "the network is down.");
  CHECK_FALSE(step.flush());
  CHECK(parameters_of(model) == before);
  CHECK(step.optimizer().steps() == 3);
}

TEST_CASE("a model on one place needs no communicator", "[parallel]") {
  call_log log;
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, noting_rule{}, all_reduce{.engine = {&log}}};
  const auto x = distribute<dp::on<dp::cuda<0>>>(dp::test::integer_samples<float, 6>(12));
  const auto y = distribute<dp::on<dp::cuda<0>>>(dp::test::square_labels(12, 3));
  step(x, y).item();
  CHECK(log.communicators == 0);
}

TEST_CASE("synchronize makes the same calls and gives every place the sums", "[parallel]") {
  call_log log;
  model_type model{dp::seed{4}};
  const auto x = distribute<where>(dp::test::integer_samples<float, 6>(12));
  const auto y = distribute<where>(dp::test::square_labels(12, 3));
  const auto gradients = [&] {
    auto [output, saved] = model.forward(x);
    return model.backward(std::move(saved), nn::cross_entropy{}(output, y).gradient);
  };
  const auto read = [](const auto& lease) {
    return std::vector<std::vector<float>>{dp::test::values_of(lease.template only_on<0>(0)),
                                           dp::test::values_of(lease.template only_on<0>(1)),
                                           dp::test::values_of(lease.template only_on<0>(2))};
  };
  const auto by_all_reduce = read(dp::synchronize(gradients(), all_reduce{.engine = {&log}}));
  CHECK(log.order() == std::vector<std::string>(4, "all_reduce"));
  log.clear();
  const auto by_scatter_gather = read(dp::synchronize(gradients(), scatter_gather{.engine = {&log}}));
  CHECK(log.order() == std::vector<std::string>{"reduce", "reduce", "reduce", "reduce", "broadcast", "broadcast",
                                                "broadcast", "broadcast"});
  CHECK(log.communicators == 2);
  CHECK(by_scatter_gather == by_all_reduce);
  CHECK(by_all_reduce[1] == by_all_reduce[0]);
  CHECK(by_all_reduce[2] == by_all_reduce[0]);
}

TEMPLATE_TEST_CASE("a communicator that throws leaves the model untouched, and the next step runs", "[parallel]",
                   all_reduce, scatter_gather, sharded) {
  recorded_training<TestType> train;
  train(12);
  int good_steps = 1;
  for (const bool behind : {false, true})
    for (std::size_t call = 0; call < 4; ++call) {
      INFO("call " << call << (behind ? ", after its work" : ", before its work"));
      const auto before = train.parameters();
      train.log.clear();
      train.log.throw_at = call;
      train.log.throw_behind = behind;
      CHECK_THROWS_WITH(train(12), "the network is down.");
      train.log.throw_at = call_log::never;
      CHECK(train.log.of("update of cuda:2").empty());
      CHECK(train.parameters() == before);
      CHECK(train.step.optimizer().steps() == good_steps);
      CHECK_NOTHROW(train(12).item());
      ++good_steps;
      dp::check_replicas(train.model);
    }
  noting::log = nullptr;
  CHECK(parameters_of(train.model) == parameters_after(good_steps));
}

TEST_CASE("after a throwing broadcast of new parameters the model is unusable", "[parallel]") {
  recorded_training<scatter_gather> train;
  train(12);
  train.log.clear();
  train.log.throw_at = 4;
  CHECK_THROWS_WITH(train(12), "the network is down.");
  CHECK_THROWS_WITH(train(12), Catch::Matchers::ContainsSubstring("devplace: this model cannot be used any more: "));
}

TEST_CASE("after a throwing gather of new parameters the model is unusable", "[parallel]") {
  recorded_training<sharded> train;
  train(12);
  train.log.clear();
  train.log.throw_at = 6;
  CHECK_THROWS_WITH(train(12), "the network is down.");
  CHECK_THROWS_WITH(train(12), Catch::Matchers::ContainsSubstring("devplace: this model cannot be used any more: "));
}

TEST_CASE("a communicator over several processes makes a step without changes", "[parallel]") {
  // Twice the gradients for twice the samples: the mean is bitwise equal.
  using across = dp::across<where>;
  dp::model<net, across> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, noting_rule{}, collective::all_reduce<two_processes>{}};
  const int ordinals[] = {2, 0, 1};
  const auto communicator = two_processes{}.connect<dp::backend::cuda>(ordinals);
  CHECK(communicator.size() == 6);
  CHECK(communicator.first_rank() == 3);
  CHECK(communicator.local_count() == 3);
  const auto second_half = [](const auto& rows) {
    using tensor = std::remove_cvref_t<decltype(rows)>;
    auto extents = rows.extents();
    dp::tensor<typename tensor::value_type, typename tensor::extents_type, dp::batch_placement_t<across>> x(
        dp::detail::with_dynamic_axis<decltype(extents)>::with(24, extents), dp::split::even, {3, 6});
    for (std::size_t k = 0; k < x.places; ++k)
      dp::copy(x.local(k), rows.slice(x.part_begin(k) - 12, x.part_begin(k + 1) - 12));
    return x;
  };
  for (int i = 0; i < 3; ++i)
    step(second_half(dp::test::integer_samples<float, 6>(12)), second_half(dp::test::square_labels(12, 3)));
  dp::check_replicas(model);
  CHECK(parameters_of(model) == parameters_after(3));
}
