// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training as one of several processes. The other processes are simulated: the test computes the contributions of their
// participants to the sum of the gradients, and the communicator adds them. Every process must then have the parameters
// of a training on one place with the whole batch.

#include <cstddef>
#include <ratio>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/tensor/detail/leading_extent.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::parameters_of;

namespace {

/// The data of all processes that one process needs.
template <class T> struct pretended_world {
  struct call {
    std::size_t buffers, count;
    dp::reduction op;
  };
  dp::participants own;
  std::vector<std::size_t> bucket_begins;          ///< first element of each call's buffer in the gradient arena
  std::vector<std::vector<T>> contributions = {};  ///< gradient arenas by rank; the entries of this process are unused
  std::vector<call> calls = {};                    ///< of one step
};

/// A communicator that knows its rank and the number of participants. It sums in rank order, with the contributions of
/// other processes from the test.
template <class T, class Backend> class pretending_communicator {
 public:
  pretending_communicator(std::span<const int> ordinals, pretended_world<T>& world)
      : ordinals_(ordinals.begin(), ordinals.end()), world_(&world) {}

  int size() const { return static_cast<int>(world_->own.count); }
  int first_rank() const { return static_cast<int>(world_->own.first); }
  int local_count() const { return static_cast<int>(ordinals_.size()); }

  void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    const std::size_t begin = world_->bucket_begins.at(world_->calls.size());
    world_->calls.push_back({buffers.size(), count, op});
    std::vector<T> total(count, T{0});
    for (std::size_t rank = 0; rank != world_->own.count; ++rank) {
      std::vector<T> summand(count);
      if (const std::size_t k = rank - world_->own.first; rank >= world_->own.first && k < buffers.size())
        dp::detail::copy_out<Backend>(ordinals_[k], summand.data(), buffers[k], count * sizeof(T));
      else
        summand.assign(world_->contributions.at(rank).begin() + static_cast<std::ptrdiff_t>(begin),
                       world_->contributions.at(rank).begin() + static_cast<std::ptrdiff_t>(begin + count));
      for (std::size_t i = 0; i != count; ++i) total[i] += summand[i];
    }
    for (std::size_t k = 0; k != buffers.size(); ++k)
      dp::detail::copy_in<Backend>(ordinals_[k], buffers[k], total.data(), count * sizeof(T));
  }
  void reduce(std::span<T* const>, std::size_t, dp::reduction, int) {
    throw std::logic_error("reduce was not expected.");
  }
  void broadcast(std::span<T* const>, std::size_t, int) { throw std::logic_error("broadcast was not expected."); }
  void reduce_scatter(std::span<T* const>, std::span<const std::size_t>, dp::reduction) {
    throw std::logic_error("reduce_scatter was not expected.");
  }
  void all_gather(std::span<T* const>, std::span<const std::size_t>) {
    throw std::logic_error("all_gather was not expected.");
  }

 private:
  std::vector<int> ordinals_;
  pretended_world<T>* world_;
};

template <class T> struct pretending {
  pretended_world<T>* world = nullptr;

  static constexpr bool spans_processes = true;
  template <class Backend> using communicator = pretending_communicator<T, Backend>;
  template <class Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals, *world);
  }
};

/// This process's part of a host tensor, copied slice by slice.
template <class Where, class T, class Extents>
auto part_of(const dp::tensor<T, Extents, dp::on<dp::cpu>>& whole, const dp::participants& own) {
  dp::tensor<T, Extents, dp::batch_placement_t<Where>> x(whole.extents(), dp::split::even, own);
  for (std::size_t k = 0; k < x.places; ++k) dp::copy(x.local(k), whole.slice(x.part_begin(k), x.part_begin(k + 1)));
  return x;
}

/// A training by process `process` of `processes`, compared with the same training on one place.
template <class Net, class Local, class T, class Loss, class Rule> class pretended_training {
 public:
  using where = dp::across<Local>;
  using model_type = dp::model<Net, where, T>;
  /// Each parameter in its own bucket.
  using policy = collective::all_reduce<pretending<T>, collective::buckets<1, 1>>;
  using plan = dp::bucket_plan<model_type, policy>;

  pretended_training(std::size_t process, std::size_t processes, const Loss& loss, const Rule& rule)
      : loss_(loss),
        world_{{process * dp::local_place_count<where>, dp::participant_count<where>(processes)}, bucket_begins()},
        step_(model_, loss, rule, policy{.engine = {&world_}}),
        step_of_one_(one_, loss, rule) {}
  pretended_training(const pretended_training&) = delete;
  pretended_training& operator=(const pretended_training&) = delete;

  void clip(double norm) {
    step_.clip({.max_norm = norm});
    step_of_one_.clip({.max_norm = norm});
  }
  void set_integers() {
    dp::test::set_integer_parameters(model_);
    dp::test::set_integer_parameters(one_);
  }
  void prepare(std::size_t samples) { step_.prepare(samples); }

  template <class Samples, class Targets> void operator()(const Samples& x, const Targets& y) {
    world_.contributions.clear();
    for (std::size_t rank = 0; rank != world_.own.count; ++rank)
      world_.contributions.push_back(
          contribution(part_of<alone>(x, {rank, world_.own.count}), part_of<alone>(y, {rank, world_.own.count})));
    world_.calls.clear();
    step_(part_of<where>(x, world_.own), part_of<where>(y, world_.own));
    step_of_one_(x, y);
    check_calls();
  }

  std::vector<T> parameters(std::size_t k) const { return parameters_of(model_, k); }
  std::vector<T> parameters_of_one() const { return parameters_of(one_); }

 private:
  using alone = dp::across<dp::on<dp::cpu>>;

  static std::vector<std::size_t> bucket_begins() {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i != plan::size; ++i) begins.push_back(plan::at(i).first);
    return begins;
  }

  /// The gradient arena, including the sums that follow the gradients, of a participant with this part of the batch.
  template <class Samples, class Targets> std::vector<T> contribution(const Samples& x, const Targets& y) const {
    auto peer = dp::to<alone>(model_);
    auto [output, saved] = peer.forward(x);
    const auto lease = peer.backward(std::move(saved), loss_(output, y).gradient);
    const T* const arena = lease.arena().replicas[0].gradient_data();
    return {arena, arena + plan::at(0).first + plan::at(0).count};
  }

  /// One call for each bucket, from the last parameter to the first, with a buffer for each place of this process.
  void check_calls() const {
    REQUIRE(world_.calls.size() == plan::size);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i != plan::size; ++i) {
      INFO("bucket " << i);
      CHECK(world_.calls[i].buffers == dp::local_place_count<where>);
      CHECK(world_.calls[i].count == plan::at(i).count);
      CHECK(world_.calls[i].op == dp::reduction::sum);
      bytes += world_.calls[i].count * sizeof(T);
    }
    const dp::step_traffic<model_type, policy> traffic{world_.own.count};
    CHECK(traffic.participants == world_.own.count);
    CHECK(traffic.bytes == 2 * (world_.own.count - 1) * bytes);
  }

  Loss loss_;
  model_type model_{dp::seed{9}};
  dp::model<Net, dp::on<dp::cpu>, T> one_{dp::seed{9}};
  pretended_world<T> world_;
  dp::trainer<model_type, Loss, Rule, policy> step_;
  dp::trainer<dp::model<Net, dp::on<dp::cpu>, T>, Loss, Rule> step_of_one_;
};

using linear_net = nn::sequential<nn::linear<6, 4>, nn::linear<4, 2>>;
using dropout_net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;

dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> integer_targets(std::size_t rows) {
  dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 2>{rows});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < 2; ++j) y(i, j) = static_cast<double>((i + 2 * j) % 5) - 2;
  return y;
}

/// Calls `f(process, processes)` for every process of 1 to 4.
template <class F> void for_processes(const F& f) {
  for (std::size_t processes = 1; processes <= 4; ++processes)
    for (std::size_t process = 0; process < processes; ++process) {
      INFO("process " << process << " of " << processes);
      f(process, processes);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("each process gets the parameters of one place, bitwise where sums are exact", "[parallel]",
                   dp::on<dp::cpu>, (dp::replicated<2, 0>)) {
  for_processes([](std::size_t process, std::size_t processes) {
    pretended_training<linear_net, TestType, double, nn::mse, dp::optim::sgd> train{
        process, processes, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}};
    for (const std::size_t rows : std::vector<std::size_t>{12, 1, 3, 0, 7, 64}) {
      INFO(rows << " samples");
      train.set_integers();
      train(dp::test::integer_samples<double, 6>(rows), integer_targets(rows));
      for (std::size_t k = 0; k < dp::local_place_count<TestType>; ++k)
        CHECK(train.parameters(k) == train.parameters_of_one());
    }
  });
}

TEMPLATE_TEST_CASE("dropout, class weights, clipping and Adam do not depend on the number of processes", "[parallel]",
                   dp::on<dp::cpu>, (dp::replicated<2, 0>)) {
  const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.1, .class_weights = {1, 2, 0.5}};
  for_processes([&](std::size_t process, std::size_t processes) {
    pretended_training<dropout_net, TestType, double, nn::cross_entropy, dp::optim::adam> train{
        process, processes, weighted, dp::optim::adam{.learning_rate = 0.01}};
    train.clip(0.5);
    train.prepare(64);
    for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 13, 33, 8})
      train(dp::test::integer_samples<double, 6>(rows), dp::test::square_labels(rows, 3));
    const auto expected = train.parameters_of_one();
    for (std::size_t k = 0; k < dp::local_place_count<TestType>; ++k) {
      const auto found = train.parameters(k);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == Catch::Approx(expected[i]).epsilon(1e-9).margin(1e-9));
    }
    CHECK(train.parameters(0) == train.parameters(dp::local_place_count<TestType> - 1));
  });
}

TEST_CASE("a communicator, a batch and a placement must agree on the participants", "[parallel]") {
  using where = dp::across<dp::replicated<2, 0>>;
  using policy = collective::all_reduce<pretending<double>, collective::buckets<1, 1>>;
  using Catch::Matchers::ContainsSubstring;
  dp::model<dropout_net, where, double> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto y = dp::test::square_labels(5, 3);

  pretended_world<double> world{{2, 6}, {0}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{.engine = {&world}}};
  CHECK_THROWS_WITH(
      step(part_of<where>(x, {0, 6}), part_of<where>(y, {0, 6})),
      ContainsSubstring("trainer: the batch is divided among 6 participants, and this process has the ranks from 0 on; "
                        "the communicator has 6 participants, and this process has the ranks from 2 on"));
  CHECK_THROWS_WITH(step(part_of<where>(x, {2, 6}), part_of<where>(y, {2, 4})),
                    ContainsSubstring("divide samples and targets among the communicator's participants."));
  CHECK(world.calls.empty());

  world.own = {5, 6};  // the last two places of six begin at rank 4
  CHECK_THROWS_WITH(
      (dp::trainer{model, nn::cross_entropy{}, dp::optim::adam{}, policy{.engine = {&world}}}),
      ContainsSubstring(
          "the policy's communicator has 6 participants, 2 of them in this process from "
          "rank 5 on, and the model lies on 2 places of each process; give a communicator of these places"));
  world.own = {2, 6};
  dp::model<dropout_net, dp::replicated<2, 0, 1>, double> local{dp::seed{1}};
  CHECK_THROWS_WITH((dp::trainer{local, nn::cross_entropy{}, dp::optim::adam{}, policy{.engine = {&world}}}),
                    ContainsSubstring("places of one process; give a communicator of these places"));
  CHECK_THROWS_WITH(
      part_of<where>(x, {5, 6}),
      ContainsSubstring("split: the 2 places of this process are participants from rank 5 on, and there are only 6"));
}

TEST_CASE("a tensor across processes holds this process's part of the whole", "[parallel]") {
  using where = dp::across<dp::sharded<dp::axis<0>, 0, 1>>;
  dp::tensor<float, dp::extents<dp::dyn, 3>, where> x(dp::extents<dp::dyn, 3>{11}, dp::split::even, {2, 4});
  CHECK(x.participants() == dp::participants{2, 4});
  CHECK(x.extent(0) == 11);
  CHECK(x.local(0).extent(0) == 3);  // 3, 3, 3, 2
  CHECK(x.local(1).extent(0) == 2);
  CHECK(x.first_row(0) == 6);
  CHECK(x.first_row(1) == 9);
  CHECK(x.part_begin(2) == 11);
  dp::detail::leading_extent::set(x, 5);
  CHECK(x.local(0).extent(0) == 1);  // 2, 1, 1, 1
  CHECK(x.first_row(1) == 4);
  CHECK(x.participants() == dp::participants{2, 4});
}
