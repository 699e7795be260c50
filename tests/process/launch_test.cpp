// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/parallel/policy.hpp>
#include <devplace/process/launch.hpp>

#include "process/control/job.hpp"
#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::forked_ranks;
using dp::test::start_as_torchrun;

namespace {

void require(bool fact) {
  if (!fact) throw std::runtime_error("another result");
}

}  // namespace

TEST_CASE("without a launcher there is one process", "[process][launch]") {
  const dp::process_group alone = dp::launched_processes();
  CHECK(alone.size() == 1);
  CHECK(alone.is_main());
}

TEST_CASE("launched processes compute together", "[process][launch]") {
  for (const int size : {2, 4}) {
    forked_ranks processes;
    start_as_torchrun(processes, size, size, [size] {
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

TEST_CASE("launched processes on several hosts exchange small values", "[process][launch]") {
  const int local = GENERATE(1, 2);
  forked_ranks processes;
  start_as_torchrun(processes, 4, local, [local] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    require(group.size() == 4 && group.local_rank() == group.rank() % local && group.local_size() == local);
    require(group.description() ==
            "rank " + std::to_string(group.rank()) + " of 4 processes, by the control connection between their hosts");
    for (int round = 0; round != 20; ++round) {
      require(group.all_reduce(group.rank() + 1) == 10);
      std::vector<double> values(20000, group.rank());  // more than one portion
      group.broadcast(std::span(values), round % 4);
      require(values.front() == round % 4 && values.back() == round % 4);
      require(group.all_gather(group.rank() * 2)[3] == 6);
    }
    group.barrier();
    // Parts in reverse order that make different numbers of calls, and parts of parts.
    const dp::process_group part = group.split(group.rank() % 2, -group.rank());
    require(part.size() == 2 && part.rank() == (group.rank() < 2 ? 1 : 0));
    require(part.local_size() == 1);  // one of the 2 ranks is on each host
    for (int call = 0; call != 3 + group.rank() % 2; ++call)
      require(part.broadcast(group.rank(), 1) == group.rank() % 2);
    const dp::process_group here = group.split(group.rank() / local);
    require(here.size() == local && here.local_size() == local && here.local_rank() == group.local_rank());
    require(part.split(part.rank()).all_reduce(1) == 1);
    group.barrier();
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("a barrier of processes on several hosts does not end another process's call", "[process][launch]") {
  forked_ranks processes;
  start_as_torchrun(processes, 2, 1, [] {
    auto options = dp::test::quick();
    options.failure = dp::on_failure::throw_;
    const dp::process_group group = dp::launched_processes(options);
    if (group.is_main())
      static_cast<void>(group.all_gather(true));
    else
      group.barrier();
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("devplace: "));
  }
}

TEST_CASE("parts with the same processes on several hosts do not mix their calls", "[process][launch]") {
  forked_ranks processes;
  start_as_torchrun(processes, 2, 1, [] {
    auto options = dp::test::quick();
    options.failure = dp::on_failure::throw_;
    options.op_timeout = 0.5;
    const dp::process_group group = dp::launched_processes(options);
    const dp::process_group first = group.split(0), second = group.split(0);
    require((group.is_main() ? first : second).all_reduce(1) == 2);  // in different orders
    require((group.is_main() ? second : first).all_reduce(10) == 20);
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("waits 0.5 s in all_gather #1 (1 x 4 bytes). Missing: rank "));
  }
}

TEST_CASE("exchanges of two parts on several hosts are open at the same time", "[process][launch]") {
  forked_ranks processes;
  start_as_torchrun(processes, 4, 1, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_group even_or_odd = group.split(group.rank() % 2), half = group.split(group.rank() / 2);
    if (group.is_main()) ::usleep(100'000);  // the exchanges of processes 0 and 1, and of 0 and 2, wait for it
    const auto sums = [](const dp::process_group& first, const dp::process_group& second, int rank) {
      return std::pair{first.all_reduce(rank), second.all_reduce(rank)};
    };
    const auto [one, other] =
        group.rank() < 2 ? sums(half, even_or_odd, group.rank()) : sums(even_or_odd, half, group.rank());
    const int in_half = group.rank() < 2 ? one : other, in_other = group.rank() < 2 ? other : one;
    require(in_half == (group.rank() < 2 ? 1 : 5) && in_other == (group.rank() % 2 == 0 ? 2 : 4));
  });
  for (const auto& one : processes.wait()) CHECK(one.end == "exit 0");
}

TEST_CASE("launched processes on several hosts cannot train on CPUs, and the error names the fix",
          "[process][launch]") {
  forked_ranks processes;
  start_as_torchrun(processes, 2, 1, [] {
    auto options = dp::test::quick();
    options.failure = dp::on_failure::throw_;
    const dp::process_group group = dp::launched_processes(options);
    const int ordinal = 0;
    static_cast<void>(
        dp::collective::direct{}.connect_across<dp::backend::cpu>(std::span<const int>(&ordinal, 1), group));
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("the processes of this group are on several hosts and were started without "
                                           "MPI, so that only small values are sent between them. Reduce between GPUs "
                                           "by collective::nccl"));
  }
}

TEST_CASE("launched processes on several hosts must know the host of process 0", "[process][launch]") {
  forked_ranks processes;
  start_as_torchrun(processes, 2, 1, [] {
    for (const char* const name : {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "GROUP_RANK"}) ::unsetenv(name);
    for (const auto& [to, from] : {std::pair{"OMPI_COMM_WORLD_RANK", "RANK"}, {"OMPI_COMM_WORLD_SIZE", "WORLD_SIZE"}}) {
      ::setenv(to, std::getenv(from), 1);
      ::unsetenv(from);
    }
    ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
    ::setenv("PMIX_NAMESPACE", "1", 1);
    static_cast<void>(dp::launched_processes(dp::test::quick()));
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("and the host of process 0 is unknown. Set MASTER_ADDR, or connect the "
                                           "processes by MPI"));
  }
}

TEST_CASE("a failing process ends processes of other hosts, in a call of all and in a call of a part",
          "[process][launch]") {
  const std::string how = GENERATE("killed", "exits", "throws", "leaves");
  const bool in_part = GENERATE(false, true);
  forked_ranks processes;
  start_as_torchrun(processes, 3, 1, [&] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_group part = group.split(0);
    group.barrier();
    if (group.rank() == 1) {
      if (how == "killed") std::raise(SIGKILL);
      if (how == "exits") std::_Exit(0);
      if (how == "throws") throw std::runtime_error("no memory");
      return;
    }
    static_cast<void>((in_part ? part : group).all_reduce(1));
  });
  const auto ends = processes.wait();
  INFO(how << "\n0: " << ends[0].text << "1: " << ends[1].text << "2: " << ends[2].text);
  CHECK(ends[1].end == (how == "killed" ? "signal 9" : how == "throws" ? "exit 3" : "exit 0"));
  for (const std::size_t r : {0u, 2u}) CHECK(ends[r].end == "exit 75");
  CHECK_THAT(ends[0].text, ContainsSubstring("rank 1 (host "));
}

TEST_CASE("a launched process that fails ends the others while they wait for it", "[process][launch]") {
  const std::string how = GENERATE("killed", "exits", "throws", "leaves out a call", "makes a call more");
  forked_ranks processes;
  start_as_torchrun(processes, 3, 3, [&how] {
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

TEST_CASE("launched processes can get an exception when one of them fails", "[process][launch]") {
  const std::string how = GENERATE("killed", "leaves out a call");
  forked_ranks processes;
  start_as_torchrun(processes, 3, 3, [&how] {
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
