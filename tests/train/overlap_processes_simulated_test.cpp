// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reduction of buckets over processes during the backward pass. Threads stand in for the processes, or the test forks.

#include <barrier>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/shared_memory_transport.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/after_backward.hpp"
#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using dp::test::after_backward;
using dp::test::in_processes;
using dp::test::parameters_of;
using names = std::vector<std::string>;

static_assert(dp::parallel::overlapping_communicator<
              dp::parallel::across_processes<dp::backend::cpu, dp::parallel::summation::by_rank>>);
static_assert(dp::parallel::overlapping_communicator<
              dp::parallel::across_processes<dp::backend::cuda, dp::parallel::summation::by_ring>, double>);

namespace {

using net = nn::sequential<nn::linear<6, 24>, nn::relu, nn::linear<24, 16>, nn::relu, nn::linear<16, 3>>;
using each_parameter = collective::buckets<1, 1>;
using each_layer = collective::buckets<300, 300>;

template <class Where, class Policy> std::vector<std::vector<float>> train() {
  dp::model<net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}, Policy{}};
  std::vector<std::vector<float>> found;
  for (const std::size_t rows : std::vector<std::size_t>{9, 1, 20, 6}) {
    if (rows == 20) step.clip({.max_norm = 0.1});
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    found.push_back(parameters_of(model, dp::local_place_count<Where> - 1));
  }
  return found;
}

using trained = std::vector<std::vector<float>>;

/// Trains as each of several processes, and returns the result, which must be `expected` unless that is empty. The
/// transport takes a few cache lines at a time, so that each bucket has several windows.
template <class Where, class Policy> trained train_in(int processes, const trained& expected = {}) {
  std::vector<trained> found(static_cast<std::size_t>(processes));
  in_processes(
      processes,
      [&](const dp::process_group& group) {
        const dp::process_scope scope{group};
        found[static_cast<std::size_t>(group.rank())] = train<Where, Policy>();
      },
      600);
  for (std::size_t rank = 0; rank != found.size(); ++rank) {
    INFO("rank " << rank << " on " << dp::placement_name<Where>());
    CHECK((found[rank] == (expected.empty() ? found[0] : expected)));
  }
  return found[0];
}

/// Called when backward reaches a layer.
struct program {
  virtual void reach(int layer) = 0;

 protected:
  ~program() = default;
};
thread_local program* current = nullptr;

template <int Number> struct reached {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = c.input * 1; }
  static void backward(const auto& c) {
    if (current != nullptr) current->reach(Number);
    c.input_gradient = c.output_gradient * 1;
  }
};
/// One bucket for each of the two linear layers; the last layer's bucket is complete when backward reaches layer 3.
using layered = nn::sequential<nn::linear<6, 16>, reached<1>, reached<2>, reached<3>, nn::linear<16, 3>>;

/// Forwards calls and counts the completed ones.
class counting_transport final : public dp::parallel::transport {
 public:
  class monitor_type final : public dp::parallel::group_monitor {
   public:
    void enter(const dp::parallel::collective_call& call) noexcept override {
      lines.push_back(call.name + (" " + std::to_string(call.count)));
    }
    void leave() noexcept override { lines.push_back("leaves"); }
    void resume() noexcept override { lines.push_back("waits"); }
    void check() override {}
    names lines;
  };

  explicit counting_transport(std::shared_ptr<transport> via) : transport(via->ranks()), via_(std::move(via)) {}
  std::string description() const override { return via_->description(); }
  std::size_t portion() const noexcept override { return via_->portion(); }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    via_->start_collect(buffers, begins);
    open_ = true;
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    via_->start_distribute(part, buffers, begins);
    open_ = true;
  }
  bool poll() override {
    const bool ends = via_->poll();
    count(ends);
    return ends;
  }
  void wait() override {
    via_->wait();
    count(true);
  }
  collected summands() noexcept override { return via_->summands(); }
  void give_up() noexcept override { via_->give_up(); }
  void barrier() override { via_->barrier(); }
  std::shared_ptr<transport> split(int color, int key) override { return via_->split(color, key); }
  dp::parallel::group_monitor* monitor() noexcept override { return &watch; }

  int ended = 0;
  monitor_type watch;

 private:
  void count(bool ends) { ended += std::exchange(open_, !ends && open_) && ends ? 1 : 0; }

  std::shared_ptr<transport> via_;
  bool open_ = false;
};

template <class Where, class Buckets = each_layer> struct training_of {
  dp::model<layered, Where> model{dp::seed{4}};
  dp::trainer<dp::model<layered, Where>, nn::cross_entropy, dp::optim::sgd,
              collective::all_reduce<collective::direct, Buckets>>
      step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};

  void operator()() {
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(6)),
         dp::to_batch<Where>(dp::test::square_labels(6, 3)));
  }
};

}  // namespace

TEST_CASE("over processes, reducing buckets during and after backward gives the same bits", "[train]") {
  using namespace devplace::collective;
  using process = dp::across<dp::on<dp::cpu>>;
  using one_device = dp::across<dp::on<dp::cuda<2>>>;
  using two_devices = dp::across<dp::replicated<2, 0>>;
  // The bits depend on the number of places, the engine and its buckets, not on which place updates.
  for (const int processes : {1, 2, 3, 4}) {
    const trained expected = train_in<process, all_reduce<after_backward<direct>, each_parameter>>(processes);
    train_in<process, all_reduce<direct, each_parameter>>(processes, expected);
    train_in<process, reduce_and_broadcast<direct, each_parameter>>(processes, expected);
    if (processes == 3) train_in<one_device, reduce_and_broadcast<direct, each_parameter>>(processes, expected);
    const trained by_ring = train_in<process, all_reduce<after_backward<ring>, each_layer>>(processes);
    train_in<process, all_reduce<ring, each_layer>>(processes, by_ring);
    train_in<process, sharded_all_reduce<ring, each_layer>>(processes, by_ring);
    if (processes == 4) {
      train_in<two_devices, all_reduce<ring, each_layer>>(2, by_ring);
      train_in<two_devices, sharded_all_reduce<direct, each_parameter>>(2, expected);
    }
  }
}

TEST_CASE("a bucket is reduced before the backward pass ends, by progress between its layers", "[train]") {
  std::barrier<> meet(2);
  in_processes(2, [&](const dp::process_group& group) {
    const auto via = std::make_shared<counting_transport>(group.transport());
    const dp::process_group counted(via);
    const dp::process_scope scope{counted};
    training_of<dp::across<dp::on<dp::cpu>>> train;
    train();
    struct meeting final : program {
      std::barrier<>& meet;
      counting_transport& via;
      int before;
      std::vector<int> ended;
      meeting(std::barrier<>& m, counting_transport& v) : meet(m), via(v), before(v.ended) {}
      void reach(int layer) override {
        ended.push_back(via.ended - before);
        if (layer != 1) meet.arrive_and_wait();
      }
    } both(meet, *via);
    via->watch.lines.clear();
    current = &both;
    train();
    current = nullptr;
    // When both processes reach layer 3, both have started the last layer's bucket and collect its summands at the next
    // progress at the latest. When both reach layer 2, both distribute their parts, which arrive at the next progress
    // at the latest. If the processes run side by side, both calls may end earlier.
    if (both.ended.size() != 3 || both.ended[1] < 1 || both.ended[2] != 2)
      throw std::logic_error("the bucket was not reduced in time.");
    if (via->ended - both.before != 4) throw std::logic_error("two buckets were not reduced by four calls.");
    // The monitor sees which calls begin, and that the process waits only in the last call.
    names lines = via->watch.lines;
    if (lines.size() == 6 && lines[4] == "waits") lines.resize(4);  // unless the other process was faster
    if (lines != names{"all_reduce 80", "leaves", "all_reduce 112", "leaves"})
      throw std::logic_error("the monitor was told something else.");
  });
}

TEST_CASE("a device's buckets are reduced over processes while the device continues", "[train]") {
  in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    training_of<dp::across<dp::on<dp::cuda<2>>>> train;
    training_of<dp::across<dp::on<dp::cpu>>> expected;
    for (int i = 0; i != 3; ++i) {
      train();
      expected();
    }
    if (parameters_of(train.model) != parameters_of(expected.model)) throw std::logic_error("other bits.");
  });
}

TEST_CASE("an exception during the reduction of buckets ends all processes and changes no model", "[train]") {
  for (const int layer : {3, 1}) {
    support::meeting_point meeting(2);
    const auto ended = support::in_forked_processes(2, [&](int rank) -> std::string {
      const auto via = dp::parallel::shared_memory_transport::connect(
          {rank, 2, rank, 2},
          [&](const void* own, std::size_t bytes, void* all) { meeting.all_gather(rank, own, bytes, all); }, nullptr);
      training_of<dp::across<dp::on<dp::cpu>>, each_parameter>* kept = nullptr;
      std::vector<float> before;
      try {
        const dp::process_group group(via);
        const dp::process_scope scope{group};
        training_of<dp::across<dp::on<dp::cpu>>, each_parameter> train;
        train();
        before = parameters_of(train.model);
        struct failing final : program {
          int at;
          explicit failing(int l) : at(l) {}
          void reach(int l) override {
            if (l == at) throw std::runtime_error("layer " + std::to_string(l) + " has failed.");
          }
        } program(layer);
        if (rank == 1) current = &program;
        kept = &train;
        try {
          train();
        } catch (...) {
          if (parameters_of(train.model) != before) return "the model has changed.";
          throw;
        }
      } catch (const std::exception& e) {
        return e.what();
      }
      return kept == nullptr ? "no training" : "no exception";
    });
    CHECK(ended[1].text == "layer " + std::to_string(layer) + " has failed.");
    CHECK_THAT(ended[0].text, ContainsSubstring("rank 1 has left the group"));
  }
}
