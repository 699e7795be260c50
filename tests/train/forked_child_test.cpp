// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks fork in the middle of a training over processes. Collective calls of the child throw, and the parents' training
// has the same bits as without fork.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/trainer.hpp>

#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_group.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
namespace {

using where = dp::across<dp::on<dp::cpu>>;
using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 10>>;
using shares = collective::sharded_all_reduce<>;

/// Throws unless `fact` holds; ranks cannot use Catch2's assertions.
void require(bool fact, const std::string& what) {
  if (!fact) throw std::runtime_error(what);
}

/// Calls `f()` in a child, which is killed if it hangs, and throws unless the child ends without an exception.
template <class F> void in_child(const F& f) {
  const auto ended = support::in_forked_processes(1, [&](int) { f(); }, 20);
  require(ended[0].end == "exit 0", "the child: " + ended[0].end + " " + ended[0].text);
}

/// Throws unless `f()` throws the error for the call `name` in a child of this rank.
template <class F> void require_refused(const std::string& name, const F& f) {
  const std::string who = name + ": this process was made by fork() in rank " +
                          std::to_string(dp::parallel::detail::transport_of_scope()->ranks().rank) +
                          " of 2 processes, and only the parent may communicate. Call it in the parent, before fork() "
                          "if the child needs the result.";
  std::string text = "nothing";
  try {
    f();
  } catch (const dp::communication_error& refused) {
    text = refused.what();
  }
  require(text == "devplace: " + who, name + " throws " + text);
}

/// Throws unless the child exits with 0; kills a child that hangs.
void require_end(::pid_t child) {
  int status = 0;
  ::pid_t ended = 0;
  for (int turns = 0; ended == 0 && turns != 2000; ++turns) {
    dp::test::forked_ranks::sleep_for(0.01);
    ended = ::waitpid(child, &status, WNOHANG);
  }
  if (ended == 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has not written the file");
}

template <class Step> void train(Step& step, std::size_t rows) {
  step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(rows)),
       dp::to_batch<where>(dp::test::square_labels(rows, 3)));
}

/// The parameters after some steps. Calls `between(model, trainer)` after the second step.
template <class Policy = collective::all_reduce<>, class Between> std::vector<float> trained(const Between& between) {
  dp::model<net, where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01f}, Policy{}};
  for (const std::size_t rows : std::vector<std::size_t>{7, 2}) train(step, rows);
  between(model, step);
  for (const std::size_t rows : std::vector<std::size_t>{5, 16, 3}) train(step, rows);
  return dp::test::parameters_of(model);
}

/// The parameters that two ranks reach without fork.
template <class Policy = collective::all_reduce<>> std::vector<float> undisturbed() {
  std::vector<float> result;
  const auto ended = support::in_forked_group(2, [] { return trained<Policy>([](auto&, auto&) {}); });
  REQUIRE(support::failures(ended).empty());
  result.resize(ended[0].text.size() / sizeof(float));
  std::memcpy(result.data(), ended[0].text.data(), ended[0].text.size());
  return result;
}

}  // namespace

TEST_CASE("collective calls throw in a forked child of a rank", "[train]") {
  const auto ended = support::in_forked_group(2, [] {
    const dp::process_group group = dp::parallel::current_processes("test");
    int left_by_child = 0;
    for (int round = 0; round != 3; ++round) {
      in_child([&] {
        require_refused("barrier", [&] { group.barrier(); });
        require_refused("all_gather", [&] { group.all_gather(1); });
        require_refused("all_gather", [&] { group.all_reduce(1); });
        require_refused("broadcast", [&] { group.broadcast(1); });
        require_refused("split", [&] { group.split(0); });
        require(group.size() == 2, "the child has no size");
        in_child([&] { require_refused("barrier", [&] { group.barrier(); }); });  // a grandchild
      });
      left_by_child += group.all_reduce(1);
    }
    const std::array<int, 1> ordinals{0};
    dp::parallel::across_processes<dp::backend::cpu, dp::parallel::summation::by_rank> places(ordinals, group);
    std::vector<float> values(2, 1);
    std::array<float*, 1> buffer{values.data()};
    const std::span<float* const> buffers(buffer);
    const std::array<std::size_t, 3> begins{0, 1, 2};
    in_child([&] {
      const auto sum = dp::reduction::sum;
      require_refused("all_reduce", [&] { places.all_reduce(buffers, 2, sum); });
      require_refused("reduce", [&] { places.reduce(buffers, 2, sum, 0); });
      require_refused("reduce_scatter", [&] { places.reduce_scatter(buffers, std::span(begins), sum); });
      require_refused("broadcast", [&] { places.broadcast(buffers, 2, 0); });
      require_refused("all_gather", [&] { places.all_gather(buffers, std::span(begins)); });
      places.mark_ready(0);
      require_refused("all_reduce", [&] { places.start_all_reduce(buffers, 2, sum); });
    });
    places.all_reduce(buffers, 2, dp::reduction::sum);
    return std::vector<float>{static_cast<float>(left_by_child), values[0]};
  });
  CHECK(support::differences(ended, {6, 2}).empty());
}

TEMPLATE_TEST_CASE("a forked child cannot take part in its parent's training, which continues", "[train]",
                   collective::all_reduce<>, shares) {
  const std::vector<float> expected = undisturbed<TestType>();
  const dp::image_set data = support::numbered_images(8);
  const auto ended = support::in_forked_group(2, [&] {
    return trained<TestType>([&](auto& model, auto& step) {
      dp::loader<where> batches{data, {.batch = 4, .workers = 1}};
      // The worker must have started, which allocates: a child of fork() would wait for ever for a lock of the
      // allocator of clang 16's AddressSanitizer that another thread held.
      for (const auto& batch : batches.epoch(0)) static_cast<void>(batch);
      const auto x = dp::to_batch<where>(dp::test::integer_samples<float, 6>(4));
      const auto y = dp::to_batch<where>(dp::test::square_labels(4, 3));
      in_child([&] {
        require_refused("to_batch", [&] { train(step, 4); });
        require_refused("accuracy", [&] { dp::accuracy(model, batches.epoch(0)); });
        require_refused("loader", [&] { dp::accuracy(model, data); });
        require_refused("trainer", [&] { dp::trainer{model, nn::cross_entropy{}, dp::optim::adam{}}; });
        require_refused(std::is_same_v<TestType, shares> ? "reduce_scatter" : "all_reduce", [&] { step(x, y); });
      });
      in_child([&] {
        if (std::is_same_v<TestType, shares>) require_refused("all_gather", [&] { step.state(); });
      });
    });
  });
  CHECK(support::differences(ended, expected) == "");
}

TEMPLATE_TEST_CASE("a forked child writes a state taken before fork while the training continues", "[train]",
                   collective::all_reduce<>, shares) {
  const std::vector<float> expected = undisturbed<TestType>();
  const support::temporary_folder folder;
  const std::string by_parent = folder.file("parent"), by_child = folder.file("child");
  const auto ended = support::in_forked_group(2, [&] {
    ::pid_t writer = 0;
    auto result = trained<TestType>([&](auto&, auto& step) {
      dp::save_checkpoint(step, {3, 4}, by_parent);
      const auto state = step.state();  // all processes take it
      if (dp::is_main_process() && (writer = ::fork()) == 0) {
        dp::save_checkpoint(step, state, {3, 4}, by_child);
        ::_exit(0);
      }
    });
    if (dp::is_main_process()) require_end(writer);
    return result;
  });
  CHECK(support::differences(ended, expected) == "");
  CHECK(!support::contents(by_parent).empty());
  CHECK(support::contents(by_child) == support::contents(by_parent));
}

TEST_CASE("launched processes continue when collective calls throw in their children", "[train]") {
  dp::test::forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, 2, 2, [] {
    const dp::process_group group = dp::launched_processes();
    const dp::process_scope scope{group};
    for (int round = 0; round != 3; ++round) {
      in_child([&] { require_refused("barrier", [&] { group.barrier(); }); });
      require(group.all_reduce(1) == 2, "other sums");
    }
  });
  for (const auto& one : ranks.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}
#endif
