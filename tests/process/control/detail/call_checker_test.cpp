// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/process/control/detail/call_checker.hpp>
#include <devplace/process/control/detail/parts.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace inner = devplace::parallel::detail;
using Catch::Matchers::ContainsSubstring;
using dp::parallel::collective_call;

namespace {

/// Processes whose calls the test makes.
struct simulated_processes {
  explicit simulated_processes(int size) : calls(static_cast<std::size_t>(size)), all(calls.size()) {
    for (std::size_t r = 0; r != all.size(); ++r) {
      all[r].rank = static_cast<int>(r);
      all[r].from.pid = static_cast<std::int64_t>(100 + r);
      all[r].from.host = "h";
    }
  }
  void made(std::size_t rank, const collective_call& call) {
    calls[rank].enter(call);
    calls[rank].leave();
    all[rank].state = calls[rank].read();
  }
  void waits(std::size_t rank, const collective_call& call, double seconds = 0) {
    calls[rank].enter(call);
    all[rank].state = calls[rank].read();
    all[rank].state.waited = seconds;
  }
  std::vector<inner::published_calls> calls;
  inner::watched_processes all;
};

constexpr collective_call sum{"all_reduce", 100, 4}, meeting{"barrier", 0, 0};

}  // namespace

TEST_CASE("the last call of a process is described in a few words", "[process][control_plane]") {
  simulated_processes two(2);
  CHECK(two.all[1].name() == "rank 1 (host h, pid 101)");
  CHECK(two.all[1].last() == "before its first collective call");
  two.made(1, sum);
  CHECK(two.all[1].last() == "after all_reduce #1 (100 x 4 bytes)");
  two.waits(1, meeting);
  CHECK(two.all[1].last() == "in barrier #2");
  CHECK(two.all[1].call(1) == "all_reduce #1 (100 x 4 bytes)");
  for (int i = 0; i != 20; ++i) two.made(1, {"a call with a name that is longer than its message's place", 1, 8});
  CHECK(two.all[1].last() == "after a call with a name that is long #22 (1 x 8 bytes)");
  CHECK(two.all[1].call(1) == "call #1");
  CHECK(inner::ended_text(two.all[0], two.all[0]) ==
        "rank 0 (host h, pid 100) ended without leaving the group, last known before its first collective call: it was "
        "killed, crashed, or called exit. Its own output may say why.");
  CHECK(inner::ended_text(two.all[0], two.all[1]) ==
        "rank 0 (host h, pid 100) ended without leaving the group, last known before rank 1 (host h, pid 101) came to "
        "a call with a name that is long #22 (1 x 8 bytes): it was killed, crashed, or called exit. Its own output may "
        "say why.");
}

TEST_CASE("processes at different calls are no error", "[process][control_plane]") {
  const dp::process_options options;
  inner::control_call_checker checker(options);
  simulated_processes three(3);
  for (int i = 0; i != 3; ++i) three.made(0, sum);
  three.made(1, sum);
  three.waits(1, sum, 299);
  CHECK(checker.find_fault(three.all, 0).empty());
  three.all[2].left = true;
  for (int i = 0; i != 3; ++i) three.made(2, sum);
  CHECK(checker.find_fault(three.all, 10).empty());
}

TEST_CASE("once all calls are known, the minority's call is the different one", "[process][control_plane]") {
  const dp::process_options options;
  inner::control_call_checker checker(options);
  simulated_processes four(4);
  four.waits(0, meeting);
  four.waits(3, sum);
  CHECK(checker.find_fault(four.all, 10).empty());
  four.waits(1, sum);
  four.waits(2, sum);
  CHECK(checker.find_fault(four.all, 10.5).empty());
  CHECK(checker.find_fault(four.all, 11) ==
        "rank 0 (host h, pid 100) makes barrier #1 where rank 1 (host h, pid 101) makes all_reduce #1 (100 x 4 bytes): "
        "all processes of a group must make the same collective calls in the same order.");
}

TEST_CASE("a different call stays known after many later calls", "[process][control_plane]") {
  const dp::process_options options;
  inner::control_call_checker checker(options);
  simulated_processes two(2);
  two.made(0, sum);
  two.made(1, meeting);
  CHECK(checker.find_fault(two.all, 0).empty());
  for (int i = 0; i != 20; ++i) {
    two.made(0, sum);
    two.made(1, sum);
  }
  CHECK_THAT(checker.find_fault(two.all, 1),
             ContainsSubstring("rank 1 (host h, pid 101) makes barrier #1 where rank 0"));
}

TEST_CASE("a long list of missing processes is cut", "[process][control_plane]") {
  const dp::process_options options;
  inner::control_call_checker checker(options);
  simulated_processes many(100);
  many.waits(99, sum, 300);
  const std::string sentence = checker.find_fault(many.all, 0);
  CHECK_THAT(sentence,
             ContainsSubstring("rank 99 (host h, pid 199) waits 300 s in all_reduce #1 (100 x 4 bytes). "
                               "Missing: rank 0 (host h, pid 100) is before its first collective call; rank "));
  CHECK_THAT(sentence, ContainsSubstring("; and 91 more. process_options::op_timeout says"));
}
