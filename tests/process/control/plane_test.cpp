// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sys/wait.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/process/control/plane.hpp>

#include "process/control/job.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::parallel::control_plane;
using dp::test::forked_ranks;
using dp::test::quick;
using dp::test::run_job;
using dp::test::together;
using dp::test::wait_in;

namespace {

/// Checks that all but `culprit` exited with the failure code, and that exactly one wrote a line; returns that line.
std::string only_sentence(const std::vector<forked_ranks::outcome>& ends, std::size_t culprit) {
  std::string sentence;
  int writers = 0;
  for (std::size_t r = 0; r != ends.size(); ++r) {
    INFO("rank " << r << ": " << ends[r].text);
    if (r == culprit) continue;
    CHECK(ends[r].end == "exit 75");
    if (ends[r].text.empty()) continue;
    ++writers;
    sentence = ends[r].text;
  }
  CHECK(writers == 1);
  return sentence;
}

}  // namespace

TEST_CASE("processes connect and exchange connection data", "[process][control_plane]") {
  for (const int size : {1, 2, 5}) {
    const auto ends = run_job(size, quick(), [size](control_plane& plane, int rank) {
      for (int round = 0; round != 20; ++round) {
        const int own[2] = {rank, 100 * round};
        std::vector<int> all(2 * static_cast<std::size_t>(size));
        plane.all_gather(own, sizeof own, all.data());
        for (int r = 0; r != size; ++r)
          if (all[2 * static_cast<std::size_t>(r)] != r || all[2 * static_cast<std::size_t>(r) + 1] != 100 * round)
            throw std::runtime_error("other values than given");
      }
      std::vector<char> most(65536, static_cast<char>(rank)), all(most.size() * static_cast<std::size_t>(size));
      plane.all_gather(most.data(), most.size(), all.data());
      for (std::size_t i = 0; i != all.size(); ++i)
        if (all[i] != static_cast<char>(i / most.size())) throw std::runtime_error("other bytes than given");
      plane.all_gather(nullptr, 0, nullptr);
      if (plane.host(0) != plane.host(size - 1)) throw std::runtime_error("one host has two names");
    });
    for (const auto& one : ends) {
      CHECK(one.end == "exit 0");
      CHECK(one.text.empty());
    }
  }
}

TEST_CASE("a killed process ends its group", "[process][control_plane]") {
  const auto ends = run_job(4, quick(), [](control_plane& plane, int rank) {
    together(plane);
    together(plane, {"barrier", 0, 0});
    if (rank == 2) std::raise(SIGKILL);
    wait_in(plane);
  });
  CHECK(ends[2].end == "signal 9");
  const std::string sentence = only_sentence(ends, 2);
  CHECK_THAT(sentence, ContainsSubstring("devplace: rank 2 (host "));
  CHECK_THAT(sentence, ContainsSubstring(") ended without leaving the group, last known "));
  CHECK_THAT(sentence, ContainsSubstring(": it was killed, crashed, or called exit. Its own output may say why.\n"));
}

TEST_CASE("a killed process 0 ends its group", "[process][control_plane]") {
  const auto ends = run_job(4, quick(), [](control_plane& plane, int rank) {
    together(plane);
    if (rank == 0) {
      plane.enter({"all_reduce", 100, 4});
      std::raise(SIGKILL);
    }
    wait_in(plane);
  });
  CHECK(ends[0].end == "signal 9");
  const std::string sentence = only_sentence(ends, 0);
  CHECK_THAT(sentence, ContainsSubstring("devplace: rank 0 (host "));
  CHECK_THAT(sentence, ContainsSubstring(") ended without leaving the group, last known "));
}

TEST_CASE("a killed process 0 is named by one process even if process 1 ends at the same time",
          "[process][control_plane]") {
  forked_ranks processes;
  dp::test::start_job(processes, 5, quick(), [](control_plane& plane, int) {
    together(plane);
    wait_in(plane);
  });
  forked_ranks::sleep_for(0.3);
  ::kill(processes.pid(0), SIGSTOP);  // cannot report the end of process 1
  siginfo_t stopped{};                // the other threads run until one thread takes the signal
  REQUIRE(::waitid(P_PID, static_cast<id_t>(processes.pid(0)), &stopped, WSTOPPED) == 0);
  ::kill(processes.pid(1), SIGKILL);
  ::kill(processes.pid(0), SIGKILL);
  auto ends = processes.wait();
  CHECK(ends[0].end == "signal 9");
  CHECK(ends[1].end == "signal 9");
  ends.erase(ends.begin());
  CHECK_THAT(only_sentence(ends, 0), ContainsSubstring("devplace: rank 0 (host "));
}

TEST_CASE("a failure says how many calls the others have made since the process was last heard from",
          "[process][control_plane]") {
  auto options = quick();
  options.heartbeat = 30;  // only the state reported at the start is known
  for (const std::size_t culprit : {std::size_t{0}, std::size_t{1}}) {
    const auto ends = run_job(3, options, [culprit](control_plane& plane, int rank) {
      for (int call = 0; call != 5; ++call) together(plane);
      plane.enter({"barrier", 0, 0});
      if (rank == static_cast<int>(culprit)) {
        forked_ranks::sleep_for(0.5);
        std::raise(SIGKILL);
      }
      wait_in(plane);
    });
    std::string text;
    for (std::size_t r = 0; r != 3; ++r) {
      CHECK(ends[r].end == (r == culprit ? "signal 9" : "exit 75"));
      text += ends[r].text;
    }
    CHECK_THAT(text, ContainsSubstring("rank " + std::to_string(culprit) + " (host ") &&
                         ContainsSubstring(") ended without leaving the group, last known ") &&
                         ContainsSubstring(") came to all_reduce #7 (100 x 4 bytes): it was killed, crashed,"));
    CHECK(text.find("before its first collective call") == std::string::npos);
  }
}

TEST_CASE("a stopped process is named and killed", "[process][control_plane]") {
  for (const std::size_t stopped : {std::size_t{0}, std::size_t{1}}) {
    auto options = quick();
    options.heartbeat_timeout = 1;
    const auto ends = run_job(3, options, [stopped](control_plane& plane, int rank) {
      together(plane);
      if (rank == static_cast<int>(stopped)) std::raise(SIGSTOP);
      wait_in(plane);
    });
    CHECK(ends[stopped].end == "signal 9");
    const std::string text = only_sentence(ends, stopped);
    CHECK_THAT(text, ContainsSubstring("devplace: rank " + std::to_string(stopped) + " (host "));
    CHECK_THAT(text, ContainsSubstring(") has been silent for 1 s, last known "));
    CHECK_THAT(text, ContainsSubstring(": it is stopped, as by SIGSTOP or a debugger, or its host is down or cannot"));
  }
}

TEST_CASE("a stopped process is killed also where the others get an exception", "[process][control_plane]") {
  auto options = quick();
  options.heartbeat_timeout = 1;
  options.failure = dp::on_failure::throw_;
  for (const std::size_t stopped : {std::size_t{0}, std::size_t{1}}) {
    const auto ends = run_job(3, options, [stopped](control_plane& plane, int rank) {
      together(plane);
      if (rank == static_cast<int>(stopped)) std::raise(SIGSTOP);
      wait_in(plane);
    });
    for (std::size_t r = 0; r != 3; ++r) {
      INFO(ends[r].text);
      CHECK(ends[r].end == (r == stopped ? "signal 9" : "exit 3"));
      if (r == stopped) continue;
      CHECK_THAT(ends[r].text, ContainsSubstring("caught: devplace: rank " + std::to_string(stopped) + " (host "));
      CHECK_THAT(ends[r].text, ContainsSubstring(") has been silent for 1 s, last known "));
    }
  }
}

TEST_CASE("a stopped process is killed even if a call times out before the heartbeat", "[process][control_plane]") {
  auto options = quick();
  options.op_timeout = 0.3;
  options.heartbeat_timeout = 1.5;
  options.exit_grace = 1;
  options.failure = GENERATE(dp::on_failure::throw_, dp::on_failure::terminate);
  const auto ends = run_job(3, options, [](control_plane& plane, int rank) {
    together(plane);
    if (rank == 1) std::raise(SIGSTOP);
    wait_in(plane);
  });
  CHECK(ends[1].end == "signal 9");
  const bool throws = options.failure == dp::on_failure::throw_;
  for (const std::size_t r : {0u, 2u}) {
    INFO(ends[r].text);
    CHECK(ends[r].end == (throws ? "exit 3" : "exit 75"));
  }
  CHECK_THAT(ends[0].text, ContainsSubstring(") waits 0.3 s in all_reduce #2 (100 x 4 bytes). Missing: rank 1 (host "));
}

TEST_CASE("a stopped process is killed after its failure was printed", "[process][control_plane]") {
  auto options = quick();
  options.heartbeat_timeout = 0.5;
  dp::test::full_pipe pipe;
  forked_ranks processes;
  dp::test::start_job(processes, 2, options, [&pipe](control_plane& plane, int rank) {
    if (rank == 0) pipe.become_stderr();
    together(plane);
    if (rank == 1) std::raise(SIGSTOP);
    wait_in(plane);
  });
  // A launcher that sees process 1 end may kill process 0 at once, so process 1 must live until process 0 has printed.
  forked_ranks::sleep_for(2);
  ::siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<::id_t>(processes.pid(1)), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
  CHECK(ended.si_pid == 0);
  CHECK(pipe.read_until("has been silent for"));
  const auto ends = processes.wait();
  CHECK(ends[1].end == "signal 9");
  CHECK(ends[0].end == "exit 75");
}

TEST_CASE("processes that are all suspended continue together", "[process][control_plane]") {
  auto options = quick();
  options.heartbeat_timeout = 1;
  forked_ranks processes;
  dp::test::start_job(processes, 3, options, [](control_plane& plane, int) {
    for (int i = 0; i != 20; ++i) {
      together(plane);
      forked_ranks::sleep_for(0.05);
    }
  });
  forked_ranks::sleep_for(0.5);
  for (const int signal : {SIGSTOP, SIGCONT}) {
    for (std::size_t r = 0; r != 3; ++r) ::kill(processes.pid(r), signal);
    if (signal == SIGSTOP) forked_ranks::sleep_for(2);
  }
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("without a heartbeat timeout a process may be stopped for long", "[process][control_plane]") {
  forked_ranks processes;
  dp::test::start_job(processes, 2, quick(), [](control_plane& plane, int) {
    for (int i = 0; i != 20; ++i) {
      together(plane);
      forked_ranks::sleep_for(0.03);
    }
  });
  forked_ranks::sleep_for(0.3);
  ::kill(processes.pid(1), SIGSTOP);
  forked_ranks::sleep_for(1);
  ::kill(processes.pid(1), SIGCONT);
  for (const auto& one : processes.wait()) CHECK(one.end == "exit 0");
}

TEST_CASE("a process that exits too early ends its group", "[process][control_plane]") {
  const auto ends = run_job(3, quick(), [](control_plane&, int rank) {
    if (rank == 1) std::_Exit(0);
    forked_ranks::sleep_for(20);
  });
  CHECK(ends[1].end == "exit 0");
  CHECK_THAT(only_sentence(ends, 1), ContainsSubstring(") ended without leaving the group, last known before its first "
                                                       "collective call: it was killed, crashed, or called exit."));
}

TEST_CASE("an exception in one process ends its group", "[process][control_plane]") {
  for (const std::size_t thrower : {std::size_t{0}, std::size_t{2}}) {
    const auto ends = run_job(3, quick(), [thrower](control_plane& plane, int rank) {
      together(plane);
      if (rank == static_cast<int>(thrower)) throw std::runtime_error("the disk is full");
      wait_in(plane);
    });
    CHECK(ends[thrower].end == "exit 3");
    CHECK_THAT(ends[thrower].text, ContainsSubstring("caught: the disk is full\n"));
    std::string sentence;
    for (std::size_t r = 0; r != 3; ++r) {
      if (r == thrower) continue;
      CHECK(ends[r].end == "exit 75");
      sentence += ends[r].text;
    }
    if (thrower == 0) {
      CHECK(sentence.empty());
      sentence = ends[0].text;
    }
    CHECK_THAT(sentence, ContainsSubstring("devplace: rank " + std::to_string(thrower) + " (host "));
    CHECK_THAT(sentence, ContainsSubstring(") left the group because of an exception, after all_reduce #1 (100 x 4 "
                                           "bytes). Its own output may say which.\n"));
  }
}

TEST_CASE("a process that leaves out a collective call is named", "[process][control_plane]") {
  for (const int culprit : {0, 1, 3}) {
    const auto ends = run_job(4, quick(), [culprit](control_plane& plane, int rank) {
      together(plane);
      if (rank != culprit) wait_in(plane, {"all_reduce", 784, 4});
      wait_in(plane, {"barrier", 0, 0});
    });
    const std::string sentence = only_sentence(ends, 4);
    CHECK_THAT(sentence, ContainsSubstring("devplace: rank " + std::to_string(culprit) + " (host "));
    CHECK_THAT(sentence, ContainsSubstring(") makes barrier #2 where rank " + std::string(culprit == 0 ? "1" : "0")));
    CHECK_THAT(sentence, ContainsSubstring(") makes all_reduce #2 (784 x 4 bytes): all processes of a group must make "
                                           "the same collective calls in the same order.\n"));
  }
}

TEST_CASE("different calls are found even after the processes have continued", "[process][control_plane]") {
  const auto ends = run_job(2, quick(), [](control_plane& plane, int rank) {
    together(plane);
    together(plane, {"broadcast", rank == 0 ? 5u : 6u, 4});
    together(plane);
    forked_ranks::sleep_for(20);
  });
  CHECK_THAT(only_sentence(ends, 2), ContainsSubstring(") makes broadcast #2 (6 x 4 bytes) where rank 0 (host "));
}

TEST_CASE("a process that makes one call more than the others is named", "[process][control_plane]") {
  for (const int culprit : {0, 1}) {
    const auto ends = run_job(3, quick(), [culprit](control_plane& plane, int rank) {
      together(plane);
      if (rank == culprit) wait_in(plane);
    });
    for (std::size_t r = 0; r != 3; ++r)
      CHECK(ends[r].end == (r == 0 || r == static_cast<std::size_t>(culprit) ? "exit 75" : "exit 0"));
    CHECK_THAT(ends[0].text, ContainsSubstring(") left the group after all_reduce #1 (100 x 4 bytes), and rank " +
                                               std::to_string(culprit) + " (host "));
    CHECK_THAT(ends[0].text, ContainsSubstring(") is in all_reduce #2 (100 x 4 bytes): all processes of a group must "
                                               "make the same number of collective calls.\n"));
  }
}

TEST_CASE("equal calls are never reported as different", "[process][control_plane]") {
  auto options = quick();
  options.heartbeat = 0.001;
  const auto ends = run_job(3, options, [](control_plane& plane, int rank) {
    for (int i = 0; i != 200; ++i) {
      for (std::size_t call = 0; call != 500; ++call) {
        plane.enter({call % 3 == 0 ? "all_reduce" : "broadcast", call % 7, call % 5});
        plane.leave();
      }
      if (rank == i % 3) forked_ranks::sleep_for(0.001);
      if (i % 10 == 0) together(plane);
    }
  });
  for (const auto& one : ends) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("a timed-out call names the missing process", "[process][control_plane]") {
  auto options = quick();
  options.op_timeout = 0.5;
  const auto ends = run_job(3, options, [](control_plane& plane, int rank) {
    together(plane);
    if (rank == 1) forked_ranks::sleep_for(20);
    wait_in(plane, {"all_reduce", 5, 8});
  });
  const std::string sentence = only_sentence(ends, 3);
  CHECK_THAT(sentence, ContainsSubstring(") waits 0.5 s in all_reduce #2 (5 x 8 bytes). Missing: rank 1 (host "));
  CHECK_THAT(sentence, ContainsSubstring(") is after all_reduce #1 (100 x 4 bytes). process_options::op_timeout says"));
}

TEST_CASE("a call in which all processes wait also times out", "[process][control_plane]") {
  auto options = quick();
  options.op_timeout = 0.3;
  const auto ends = run_job(2, options, [](control_plane& plane, int) { wait_in(plane); });
  CHECK_THAT(only_sentence(ends, 2),
             ContainsSubstring(". All processes are in this call. process_options::op_timeout"));
}

TEST_CASE("failures may be exceptions", "[process][control_plane]") {
  auto options = quick();
  options.failure = dp::on_failure::throw_;
  for (const std::size_t culprit : {std::size_t{0}, std::size_t{1}}) {
    const auto ends = run_job(3, options, [culprit](control_plane& plane, int rank) {
      together(plane);
      if (rank == static_cast<int>(culprit)) std::raise(SIGKILL);
      try {
        wait_in(plane);
      } catch (const dp::communication_error&) {
      }
      plane.leave();
      char byte = 0;
      plane.all_gather(&byte, 1, &byte);
    });
    for (std::size_t r = 0; r != 3; ++r) {
      if (r == culprit) continue;
      CHECK(ends[r].end == "exit 3");
      CHECK_THAT(ends[r].text, ContainsSubstring("caught: devplace: rank " + std::to_string(culprit) + " (host "));
      CHECK_THAT(ends[r].text, ContainsSubstring(") ended without leaving the group, last known "));
    }
  }
}

TEST_CASE("explain() throws the reason for a failure, if it is known", "[process][control_plane]") {
  auto options = quick();
  options.failure = GENERATE(dp::on_failure::throw_, dp::on_failure::terminate);
  const auto ends = run_job(2, options, [](control_plane& plane, int rank) {
    together(plane);
    plane.explain();  // no failure
    plane.enter({rank == 0 ? "broadcast" : "all_reduce", 4, 4});
    plane.explain();
    throw std::runtime_error("nobody explained it");
  });
  const bool throws = options.failure == dp::on_failure::throw_;
  for (const auto& one : ends) CHECK(one.end == (throws ? "exit 3" : "exit 75"));
  for (const auto& one : throws ? ends : std::vector{ends[0]})
    CHECK_THAT(one.text, ContainsSubstring(") makes all_reduce #2 (4 x 4 bytes) where rank 0 (host "));
}

TEST_CASE("a process may wait again in a call that it has left, and only the new wait counts",
          "[process][control_plane]") {
  auto options = quick();
  options.op_timeout = 1;
  const bool comes = GENERATE(false, true);
  const auto ends = run_job(2, options, [comes](control_plane& plane, int rank) {
    if (rank == 0) {
      plane.enter({"all_reduce", 100, 4});
      plane.leave();
      forked_ranks::sleep_for(1.2);
      plane.resume();
    } else {
      forked_ranks::sleep_for(1.5);
      if (!comes) forked_ranks::sleep_for(20);
      plane.enter({"all_reduce", 100, 4});
    }
    char own = 0, all[2] = {};
    plane.all_gather(&own, 1, all);
    plane.leave();
  });
  if (comes) {
    CHECK(ends[0].end == "exit 0");
    CHECK(ends[1].end == "exit 0");
  } else {
    CHECK_THAT(only_sentence(ends, 2), ContainsSubstring(") waits 1 s in all_reduce #1 (100 x 4 bytes). Missing: rank "
                                                         "1 (host "));
  }
}

TEST_CASE("different programs are detected at the first exchange", "[process][control_plane]") {
  const auto other = run_job(2, quick(), [](control_plane& plane, int rank) {
    std::vector<char> own(rank == 0 ? 8 : 12), all(24);
    plane.all_gather(own.data(), own.size(), all.data());
  });
  CHECK_THAT(only_sentence(other, 2), ContainsSubstring(") gives 12 bytes to an exchange between the processes, and "
                                                        "rank 0 (host "));
  auto options = quick();
  options.init_timeout = 1;
  const auto missing = run_job(2, options, [](control_plane& plane, int rank) {
    char byte[2] = {};
    if (rank == 0) forked_ranks::sleep_for(20);
    plane.all_gather(byte, 1, byte);
  });
  CHECK_THAT(only_sentence(missing, 2), ContainsSubstring("an exchange between the processes waits for "
                                                          "rank 0 (host "));
}

TEST_CASE("a forked child does not act for its parent", "[process][control_plane]") {
  const auto ends = run_job(2, quick(), [](control_plane& plane, int rank) {
    together(plane);
    if (rank == 1 && ::fork() == 0) throw std::runtime_error("unwinds the child's copy of the control plane");
    forked_ranks::sleep_for(0.3);
    together(plane);
  });
  CHECK(ends[0].end == "exit 0");
  CHECK(ends[0].text.empty());
  CHECK(ends[1].end == "exit 0");
  CHECK_THAT(ends[1].text, ContainsSubstring("caught: unwinds the child's copy of the control plane"));
}

TEST_CASE("one job can form several groups in sequence", "[process][control_plane]") {
  const std::string token = dp::test::new_token();
  forked_ranks processes;
  for (int rank = 0; rank != 3; ++rank)
    processes.start([&, rank] {
      for (int round = 0; round != 100; ++round) {
        control_plane plane({token, rank, 3, ""}, {}, quick());
        if (round % 3 == 0) together(plane);
      }
    });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("jobs are isolated from each other", "[process][control_plane]") {
  forked_ranks processes;
  for (int job = 0; job != 3; ++job)
    dp::test::start_job(processes, 3, quick(), [job](control_plane& plane, int) {
      int all[3] = {};
      plane.all_gather(&job, sizeof job, all);
      if (all[0] != job || all[1] != job || all[2] != job) throw std::runtime_error("a process of another job");
    });
  for (const auto& one : processes.wait()) CHECK(one.end == "exit 0");
}
