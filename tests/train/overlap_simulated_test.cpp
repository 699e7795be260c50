// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reduction of buckets during the backward pass gives the same bits as reduction after it. Each bucket starts as soon
// as its gradients are complete, and an exception between start and end loses only that step.

#include <cstddef>
#include <memory>
#include <ratio>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/after_backward.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::after_backward;
using dp::test::distribute;
using dp::test::parameters_of;
using names = std::vector<std::string>;

static_assert(!dp::parallel::overlapping_communicator<
              dp::test::communicator_after_backward<dp::parallel::direct<dp::backend::cuda>>>);

namespace {

using each_parameter = collective::buckets<1, 1>;
using each_layer = collective::buckets<130, 100>;

using block =
    nn::residual<nn::projected_by<nn::linear<8, 8>>, nn::linear<8, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>>;
using net = nn::sequential<nn::linear<6, 8>, nn::relu, block, nn::frozen<nn::linear<8, 8>>,
                           nn::sequential<nn::linear<8, 8>, nn::relu>, nn::linear<8, 3>>;

/// The parameters of the last place after each step, some on batches with fewer samples than places; the last steps
/// clip gradients.
template <class Where, class Policy, std::size_t Batches = 1>
std::vector<std::vector<float>> train(const Policy& policy = {}) {
  dp::model<net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1, .class_weights = {1, 2, 0.7}},
                   dp::optim::adam{.learning_rate = 0.01}, policy, dp::accumulate<Batches>{}};
  std::vector<std::vector<float>> found;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 33, 0, 12, 5}) {
    if (rows == 12) step.clip({.max_norm = 0.05});
    step(distribute<Where>(dp::test::integer_samples<float, 6>(rows)),
         distribute<Where>(dp::test::square_labels(rows, 3)));
    found.push_back(parameters_of(model, dp::local_place_count<Where> - 1));
  }
  step.flush();
  found.push_back(parameters_of(model));
  found.push_back({static_cast<float>(step.mean_loss())});
  return found;
}

/// The bits depend on the engine and its buckets, not on which place updates, so all policies have one expectation.
template <class Where, class Engine, class Buckets, std::size_t Batches, template <class, class> class... Policies>
void check_policies() {
  const auto expected = train<Where, collective::all_reduce<after_backward<Engine>, Buckets>, Batches>();
  CHECK(((train<Where, Policies<Engine, Buckets>, Batches>() == expected) && ...));
}

/// The host's calls, in order.
struct host_calls {
  names lines;
  std::string fails_at;  ///< the line at which an exception is thrown

  void note(const std::string& line) {
    lines.push_back(line);
    if (line == fails_at) {
      fails_at.clear();
      throw std::runtime_error("failed at: " + line);
    }
  }
};
host_calls* current = nullptr;

/// Records when the host enqueues its passes.
template <int Number> struct noting {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = c.input * 1; }
  static void backward(const auto& c) {
    if (current != nullptr) current->note("backward of " + std::to_string(Number));
    c.input_gradient = c.output_gradient * 1;
  }
};

/// A user's communicator that records its calls.
template <class Backend>
class noting_communicator : public dp::test::communicator_after_backward<dp::parallel::direct<Backend>> {
  using base = dp::test::communicator_after_backward<dp::parallel::direct<Backend>>;

 public:
  noting_communicator(std::span<const int> ordinals, host_calls& to)
      : base(dp::parallel::direct<Backend>(ordinals)), diary_(&to) {}

  void mark_ready(std::size_t k) { diary_->note("mark " + std::to_string(k)); }
  template <class T> void start_all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    diary_->note("all_reduce " + std::to_string(count));
    this->all_reduce(buffers, count, op);
  }
  template <class T> void start_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op, int root) {
    diary_->note("reduce " + std::to_string(count));
    this->reduce(buffers, count, op, root);
  }
  template <class T>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
    diary_->note("reduce_scatter " + std::to_string(begins.back()));
    this->reduce_scatter(buffers, begins, op);
  }
  void progress() {}
  void finish() { diary_->note("finish"); }
  void abandon() noexcept { diary_->lines.push_back("abandon"); }

 private:
  host_calls* diary_;
};

struct notes {
  host_calls* to = nullptr;

  static constexpr std::string_view name = "notes";
  template <class Backend> noting_communicator<Backend> connect(std::span<const int> ordinals) const {
    return {ordinals, *to};
  }
};
/// The same communicator as an engine across processes, here a single process.
struct notes_across : notes {
  static constexpr bool spans_processes = true;
};

/// Buckets: bias of the last linear layer with the sums behind it, its weight, bias of the first layer, its weight.
using noting_net = nn::sequential<nn::linear<6, 8>, noting<0>, nn::sequential<noting<1>, nn::linear<8, 3>>, noting<2>>;

template <class Where, class Policy, std::size_t Batches = 1> struct noted_training {
  using model_type = dp::model<noting_net, Where>;
  host_calls lines;
  dp::process_group alone;
  dp::process_scope scope{alone};
  model_type model{dp::seed{4}};
  dp::trainer<model_type, nn::cross_entropy, dp::optim::sgd, Policy, dp::accumulate<Batches>> step{
      model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, Policy{.engine = {&lines}}};

  noted_training() { current = &lines; }
  noted_training(const noted_training&) = delete;
  noted_training& operator=(const noted_training&) = delete;
  ~noted_training() { current = nullptr; }

  names operator()() {
    lines.lines.clear();
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(6)),
         dp::to_batch<Where>(dp::test::square_labels(6, 3)));
    return lines.lines;
  }
};

using one_of_several = dp::across<dp::on<dp::cpu>>;

}  // namespace

// Each policy occurs with each engine, but not with all buckets and places, which would take minutes to compile.
TEST_CASE("reducing buckets during and after backward gives the same bits", "[train]") {
  using namespace devplace::collective;
  using three = dp::replicated<2, 0, 1>;
  check_policies<three, direct, each_parameter, 1, all_reduce, reduce_and_broadcast, sharded_all_reduce>();
  check_policies<three, ring, each_layer, 1, all_reduce, reduce_and_broadcast, sharded_all_reduce>();
  check_policies<three, direct, each_layer, 2, sharded_all_reduce>();
}

TEST_CASE("a process with one place starts each bucket when its layer's backward is done", "[train]") {
  noted_training<one_of_several, collective::all_reduce<notes_across, each_parameter>> train;
  const names step{"backward of 2", "mark 0", "all_reduce 32", "mark 0", "all_reduce 32", "backward of 1",
                   "backward of 0", "mark 0", "all_reduce 16", "mark 0", "all_reduce 48", "finish"};
  CHECK(train() == step);
  CHECK(train() == step);
}

TEST_CASE("each policy starts the reduction that it needs", "[train]") {
  noted_training<one_of_several, collective::reduce_and_broadcast<notes_across, each_layer>> on_first;
  CHECK(on_first() == names{"backward of 2", "mark 0", "reduce 64", "backward of 1", "backward of 0", "mark 0",
                            "reduce 64", "finish"});
  noted_training<one_of_several, collective::sharded_all_reduce<notes_across, each_layer>> shared;
  CHECK(shared() == names{"backward of 2", "mark 0", "reduce_scatter 64", "backward of 1", "backward of 0", "mark 0",
                          "reduce_scatter 64", "finish"});
  shared.step.clip({.max_norm = 1});  // the norm is reduced afterwards
  CHECK(shared() == names{"backward of 2", "mark 0", "reduce_scatter 64", "backward of 1", "backward of 0", "mark 0",
                          "reduce_scatter 64", "finish"});
}

TEST_CASE("with several places the passes are enqueued first, with a mark for each bucket", "[train]") {
  noted_training<dp::replicated<1, 0>, collective::all_reduce<notes, each_parameter>> train;
  CHECK(train() == names{"backward of 2", "mark 0", "mark 0", "backward of 1", "backward of 0", "mark 0", "mark 0",
                         "backward of 2", "mark 1", "mark 1", "backward of 1", "backward of 0", "mark 1", "mark 1",
                         "all_reduce 32", "all_reduce 32", "all_reduce 16", "all_reduce 48", "finish"});
}

TEST_CASE("only the last accumulated batch overlaps reduction with backward, and flush reduces afterwards", "[train]") {
  noted_training<one_of_several, collective::all_reduce<notes_across, each_layer>, 2> train;
  const names passes{"backward of 2", "backward of 1", "backward of 0"};
  CHECK(train() == passes);
  CHECK(train() == names{"backward of 2", "mark 0", "all_reduce 64", "backward of 1", "backward of 0", "mark 0",
                         "all_reduce 64", "finish"});
  CHECK(train() == passes);
  train.lines.lines.clear();
  CHECK(train.step.flush());
  CHECK(train.lines.lines.empty());
}

TEST_CASE("a network with a single bucket is reduced after backward", "[train]") {
  noted_training<one_of_several, collective::all_reduce<notes_across>> train;
  CHECK(train() == names{"backward of 2", "backward of 1", "backward of 0"});
}

TEMPLATE_TEST_CASE("after an exception between start and end the model is unchanged, and the next step can run",
                   "[train]", dp::replicated<0>, (dp::replicated<1, 0>)) {
  using where = std::conditional_t<dp::local_place_count<TestType> == 1, one_of_several, TestType>;
  using engine = std::conditional_t<dp::local_place_count<TestType> == 1, notes_across, notes>;
  using policy = collective::all_reduce<engine, each_parameter>;
  noted_training<where, policy> expected;
  expected();
  const auto after_one = parameters_of(expected.model);
  expected();
  const auto after_two = parameters_of(expected.model);
  for (const char* const line :
       {"backward of 0", "backward of 2", "mark 0", "all_reduce 32", "all_reduce 48", "finish"}) {
    noted_training<where, policy> train;
    train();
    const double mean = train.step.mean_loss();
    train.lines.fails_at = line;
    CHECK_THROWS_WITH(train(), Catch::Contains(line));
    CHECK(train.lines.lines.back() == "abandon");
    CHECK(parameters_of(train.model) == after_one);
    CHECK(train.step.mean_loss() == mean);
    train();
    CHECK(train.lines.lines.back() == "finish");
    CHECK(parameters_of(train.model, dp::local_place_count<where> - 1) == after_two);
  }
}

TEST_CASE("an exception in a layer leaves built-in communicators usable", "[train]") {
  const auto train = [](bool fails) {
    host_calls lines;
    dp::model<noting_net, dp::replicated<1, 0>> model{dp::seed{4}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1},
                     collective::all_reduce<collective::ring, each_parameter>{}};
    const auto x = distribute<dp::replicated<1, 0>>(dp::test::integer_samples<float, 6>(6));
    const auto y = distribute<dp::replicated<1, 0>>(dp::test::square_labels(6, 3));
    step(x, y);
    if (fails) {
      current = &lines;
      lines.fails_at = "backward of 0";
      CHECK_THROWS_WITH(step(x, y), Catch::Contains("failed at: backward of 0"));
      current = nullptr;
    }
    step(x, y);
    return parameters_of(model, 1);
  };
  CHECK(train(true) == train(false));
}
