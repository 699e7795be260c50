// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trainings of real processes in which one fails: all processes end, and one sentence names the failed one. Set
// DEVPLACE_TEST_ROUNDS to repeat every case in search of hangs.

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/io/npy.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/trainer.hpp>
#include <devplace/train/training_log.hpp>

#include "process/control/job.hpp"
#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using dp::test::forked_ranks;

namespace {

constexpr int processes = 4, culprit = 2;

using where = dp::across<dp::on<dp::cpu>>;
using net = nn::sequential<nn::linear<6, 16>, nn::relu, nn::linear<16, 3>>;
using other_net = nn::sequential<nn::linear<6, 12>, nn::relu, nn::linear<12, 3>>;

template <class Step> void step_of(Step& step, std::size_t rows) {
  step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(rows)),
       dp::to_batch<where>(dp::test::square_labels(rows, 3)));
}

/// Runs ten steps. `before_fifth(group)`, called before step 5, returns how many more or fewer steps this process runs.
template <class Net = net>
void train(const std::function<int(const dp::process_group&)>& before_fifth, const dp::process_options& options) {
  const dp::process_group group = dp::launched_processes(options);
  const dp::process_scope scope{group};
  dp::model<Net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  int steps = 10;
  for (int i = 0; i < steps; ++i) {
    if (i == 5 && before_fifth) steps += before_fifth(group);
    step_of(step, 8);
  }
}

struct failure {
  const char* name;
  std::function<int(const dp::process_group&)> fail;  ///< called in the failing process before its fifth step
  const char* culprits_end;
  const char* sentence;  ///< contained in the output of one process
  std::size_t who = culprit;
  std::function<int(const dp::process_group&)> of_others = [](const dp::process_group&) { return 0; };
};

const std::vector<failure> cases{
    {"killed", [](const dp::process_group&) { return std::raise(SIGKILL); }, "signal 9",
     "ended without leaving the group"},
    {"stopped", [](const dp::process_group&) { return std::raise(SIGSTOP); }, "signal 9",
     "it is stopped, as by SIGSTOP"},
    {"exits early", [](const dp::process_group&) -> int { std::_Exit(0); }, "exit 0",
     "ended without leaving the group"},
    {"throws", [](const dp::process_group&) -> int { throw std::runtime_error("a value is out of range"); }, "exit 3",
     "left the group because of an exception"},
    {"skips a step", [](const dp::process_group&) { return -1; }, "exit 0", "left the group"},
    {"takes a step more", [](const dp::process_group&) { return 1; }, "exit 75", "left the group"},
    {"makes another call",
     [](const dp::process_group& group) {
       group.barrier();
       return 0;
     },
     "exit 75", "barrier"},
    {"is out of memory",
     [](const dp::process_group&) -> int {
       dp::tensor<float, dp::extents<dp::dyn>, dp::cpu> large(dp::extents<dp::dyn>(std::size_t{1} << 62));
       return static_cast<int>(large.data()[0]);
     },
     "exit 3", "left the group because of an exception"},
    {"saves to a full disk",
     [](const dp::process_group& group) {
       std::signal(SIGXFSZ, SIG_IGN);
       const ::rlimit nothing{0, RLIM_INFINITY};
       ::setrlimit(RLIMIT_FSIZE, &nothing);
       const support::temporary_folder folder;
       dp::write_npy(folder.file("weight.npy"), dp::zeros<float, dp::cpu>(2, 2));
       group.barrier();
       return 0;
     },
     "exit 3", "left the group because of an exception", 0,
     [](const dp::process_group& group) {
       group.barrier();  // waits for the file
       return 0;
     }},
    {"cannot write its log",
     [](const dp::process_group&) {
       std::signal(SIGXFSZ, SIG_IGN);
       const support::temporary_folder folder;
       dp::training_log log{folder.file("log.csv"), {"step"}};
       const ::rlimit nothing{0, RLIM_INFINITY};
       ::setrlimit(RLIMIT_FSIZE, &nothing);
       log.append({{"step", 5}});
       return 0;
     },
     "exit 3", "left the group because of an exception", 0},
};

int rounds() {
  const char* const given = std::getenv("DEVPLACE_TEST_ROUNDS");
  return given == nullptr ? 1 : std::atoi(given);
}

std::string all_texts(const std::vector<forked_ranks::outcome>& ends) {
  std::string text;
  for (std::size_t r = 0; r != ends.size(); ++r)
    text += "rank " + std::to_string(r) + ", " + ends[r].end + ": " + ends[r].text + "\n";
  return text;
}

}  // namespace

TEST_CASE("a process that fails in a training ends all of them, and is named", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  for (const failure& one : cases) {
    auto options = dp::test::quick();
    if (std::string(one.name) == "stopped") options.heartbeat_timeout = 2;
    forked_ranks ranks;
    const auto start = std::chrono::steady_clock::now();
    dp::test::start_as_torchrun(ranks, processes, processes, [&] {
      const bool fails = std::getenv("RANK") == std::to_string(one.who);
      train(fails ? one.fail : one.of_others, options);
    });
    const auto ends = ranks.wait(30);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    INFO("a process that " << one.name << ", round " << round << ", after " << took.count() << " s\n"
                           << all_texts(ends));
    CHECK(ends[one.who].end == one.culprits_end);
    int sentences = 0;
    for (std::size_t r = 0; r != processes; ++r) {
      CHECK(ends[r].end != "hung");
      if (ends[r].text.find(one.sentence) == std::string::npos) continue;
      ++sentences;
      CHECK_THAT(ends[r].text, ContainsSubstring("rank " + std::to_string(one.who) + " (host "));
    }
    CHECK(sentences == 1);
  }
}

TEST_CASE("processes with different models end with the difference", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, processes, processes, [&] {
    if (std::getenv("RANK") == std::to_string(culprit))
      train<other_net>(nullptr, dp::test::quick());
    else
      train(nullptr, dp::test::quick());
  });
  // The first process to throw ends the others, some of which may not have thrown yet.
  const auto ends = ranks.wait(30);
  INFO(all_texts(ends));
  bool told = false;
  for (const auto& one : ends) {
    CHECK((one.end == "exit 3" || one.end == "exit 75"));
    told = told || one.text.find(
                       "trainer, in step 1: rank 2 has \"parameter 0.weight: float 12x6\" where rank 0 has \"parameter "
                       "0.weight: float 16x6\".") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("a process that changes the learning rate ends all processes in that step, and is named",
          "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, processes, processes, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.5}};
    for (int i = 1; i != 11; ++i) {
      if (i == 5 && group.rank() == culprit) step.optimizer().rule().learning_rate = 0.25;
      step_of(step, 8);
    }
  });
  const auto ends = ranks.wait(30);
  INFO(all_texts(ends));
  bool told = false;
  for (const auto& one : ends) {
    CHECK((one.end == "exit 3" || one.end == "exit 75"));
    told = told || one.text.find(
                       "trainer, in step 5: rank 2 has \"optimizer's learning_rate: 0.25\" where rank 0 has "
                       "\"optimizer's learning_rate: 0.5\".") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("a process missing at the start is named", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  auto options = dp::test::quick();
  options.init_timeout = 1;
  options.exit_grace = 0.3;  // process 0 waits this long for the missing process
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, processes, processes, [&] {
    if (std::getenv("RANK") != std::to_string(culprit)) train(nullptr, options);
  });
  const auto ends = ranks.wait(30);
  INFO(all_texts(ends));
  for (std::size_t r = 0; r != processes; ++r) CHECK(ends[r].end == (r == culprit ? "exit 0" : "exit 3"));
  CHECK_THAT(ends[0].text, ContainsSubstring("missing: rank 2."));
}

TEST_CASE("a process with a different WORLD_SIZE is named", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  auto options = dp::test::quick();
  options.init_timeout = 2;
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, processes, processes, [&] {
    if (std::getenv("RANK") == std::to_string(culprit)) {
      ::setenv("WORLD_SIZE", "5", 1);
      ::setenv("LOCAL_WORLD_SIZE", "5", 1);
    }
    train(nullptr, options);
  });
  const auto ends = ranks.wait(30);
  INFO(all_texts(ends));
  for (const auto& one : ends) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("rank 2 (host ") &&
                             ContainsSubstring(") was started for 5 processes and rank 0 (host ") &&
                             ContainsSubstring(") for 4: all must have the same WORLD_SIZE."));
  }
}

TEST_CASE("a process without samples continues with empty batches", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, 2, 2, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
    dp::model<net, dp::cpu> alone{dp::seed{1}};
    dp::trainer step_alone{alone, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
    const auto x = dp::test::integer_samples<float, 6>(8);
    const auto y = dp::test::square_labels(8, 3);
    for (int i = 0; i < 4; ++i) {
      // All 8 samples of the batch belong to the first process; the second has 0 rows.
      const dp::participants own{static_cast<std::size_t>(group.rank()), 2};
      const std::size_t rows = group.is_main() ? 16 : 0;
      dp::tensor<float, dp::extents<dp::dyn, 6>, dp::batch_placement_t<where>> samples(dp::extents<dp::dyn, 6>{rows},
                                                                                       dp::split::even, own);
      dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::batch_placement_t<where>> labels(dp::extents<dp::dyn>{rows},
                                                                                          dp::split::even, own);
      if (group.is_main()) {
        dp::copy(samples.local(0), x);
        dp::copy(labels.local(0), y);
      }
      step(samples, labels);
      step_alone(x, y);
    }
    if (dp::test::parameters_of(model) != dp::test::parameters_of(alone)) throw std::runtime_error("other parameters");
  });
  for (const auto& one : ranks.wait(30)) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("all processes stay equal over a thousand steps with batches of random sizes", "[parallel][launch]") {
  const int round = GENERATE(range(0, rounds()));
  INFO("round " << round);
  forked_ranks ranks;
  dp::test::start_as_torchrun(ranks, processes, processes, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.001}};
    std::mt19937 random(5);
    for (int i = 0; i < 1000; ++i) {
      step_of(step, random() % 13);
      if (i % 100 != 99) continue;
      auto parameters = dp::test::parameters_of(model);
      const auto own = parameters;
      group.broadcast(std::span(parameters));
      if (parameters != own) throw std::runtime_error("the parameters differ after step " + std::to_string(i));
    }
  });
  for (const auto& one : ranks.wait(60)) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}
