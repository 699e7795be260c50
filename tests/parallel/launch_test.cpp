// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <csignal>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/parallel/launch.hpp>

#include "parallel/control_job.hpp"
#include "parallel/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::forked_ranks;
using dp::test::torchrun;

namespace {

void require(bool fact) {
  if (!fact) throw std::runtime_error("another result");
}

}  // namespace

TEST_CASE("without a launcher there is one process", "[parallel][launch]") {
  const dp::process_group alone = dp::launched_processes();
  CHECK(alone.size() == 1);
  CHECK(alone.is_main());
}

TEST_CASE("launched processes compute together", "[parallel][launch]") {
  for (const int size : {2, 4}) {
    forked_ranks processes;
    torchrun(processes, size, size, [size] {
      const dp::process_group group = dp::launched_processes(dp::test::quick());
      require(group.size() == size);
      require(group.local_rank() == group.rank() && group.local_size() == size);
      require(dp::device_map_description() == "from the first use of a cuda place on, the share of process " +
                                                  std::to_string(group.rank()) + " of " + std::to_string(size) +
                                                  " on its host");
      for (int round = 0; round != 50; ++round) {
        require(group.all_reduce(group.rank() + 1) == size * (size + 1) / 2);
        std::vector<double> values(1000, group.rank());
        group.broadcast(std::span(values), round % size);
        require(values.front() == round % size && values.back() == round % size);
      }
      const dp::process_group part = group.split(group.rank() % 2);
      require(part.all_reduce(1) == size / 2);
      group.barrier();
    });
    for (const auto& one : processes.wait()) {
      CHECK(one.end == "exit 0");
      CHECK(one.text.empty());
    }
  }
}

TEST_CASE("launched processes on several hosts are told to use MPI", "[parallel][launch]") {
  forked_ranks processes;
  torchrun(processes, 4, 2, [] { static_cast<void>(dp::launched_processes(dp::test::quick())); });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("the 4 processes of the job are on several hosts, 2 of them on this one. "
                                           "Processes of several hosts are connected by MPI: start them by mpirun or "
                                           "srun and make their group by <devplace/parallel/mpi.hpp>."));
  }
}

TEST_CASE("a launched process that fails ends the others while they wait for it", "[parallel][launch]") {
  const std::string how = GENERATE("killed", "exits", "throws", "leaves out a call", "makes a call more");
  forked_ranks processes;
  torchrun(processes, 3, 3, [&how] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    group.barrier();
    static_cast<void>(group.all_reduce(1.5));
    const bool culprit = group.rank() == 1;
    if (culprit && how == "killed") std::raise(SIGKILL);
    if (culprit && how == "exits") std::_Exit(0);
    if (culprit && how == "throws") throw std::runtime_error("no memory");
    if (how == "makes a call more" && !culprit) return;
    if (how != "leaves out a call" || !culprit) static_cast<void>(group.all_reduce(2));
    group.barrier();
  });
  const auto ends = processes.wait();
  INFO(how << "\n0: " << ends[0].text << "1: " << ends[1].text << "2: " << ends[2].text);
  CHECK(ends[1].end == (how == "killed"   ? "signal 9"
                        : how == "exits"  ? "exit 0"
                        : how == "throws" ? "exit 3"
                                          : "exit 75"));
  CHECK(ends[0].end == "exit 75");
  CHECK(ends[2].end == (how == "makes a call more" ? "exit 0" : "exit 75"));
  CHECK(ends[2].text.empty());
  CHECK_THAT(ends[0].text, ContainsSubstring("rank 1 (host "));
  CHECK(ends[0].text.find('\n') + 1 == ends[0].text.size());
}

TEST_CASE("launched processes may get an exception when one of them fails", "[parallel][launch]") {
  const std::string how = GENERATE("killed", "leaves out a call");
  forked_ranks processes;
  torchrun(processes, 3, 3, [&how] {
    auto options = dp::test::quick();
    options.failure = dp::on_failure::throw_;
    const dp::process_group group = dp::launched_processes(options);
    group.barrier();
    const bool culprit = group.rank() == 0;
    if (culprit && how == "killed") std::raise(SIGKILL);
    if (!culprit) static_cast<void>(group.all_reduce(2));
    group.barrier();
  });
  const auto ends = processes.wait();
  INFO(how << "\n0: " << ends[0].text << "1: " << ends[1].text << "2: " << ends[2].text);
  CHECK(ends[0].end == (how == "killed" ? "signal 9" : "exit 3"));
  for (std::size_t r = 1; r != 3; ++r) {
    CHECK(ends[r].end == "exit 3");
    CHECK_THAT(ends[r].text, ContainsSubstring("caught: devplace: rank 0 (host "));
  }
}
