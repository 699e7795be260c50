// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls in parts of a group, made by split(), where one process makes other calls than the rest.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <devplace/process/control/plane.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/shared_memory_transport.hpp>

#include "process/control/job.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::forked_ranks;

namespace {

/// Runs f(group) in each of four processes connected by shared memory.
std::vector<forked_ranks::outcome> run_group(const dp::process_options& options,
                                             const std::function<void(const dp::process_group&)>& f) {
  const std::string token = dp::test::new_token();
  forked_ranks processes;
  for (int rank = 0; rank != 4; ++rank)
    processes.start([&, rank] {
      const auto plane = std::make_shared<dp::parallel::control_plane>(
          dp::parallel::job_member{token, rank, 4, "started by the test"}, dp::parallel::control_endpoint{}, options);
      const auto exchange = [&](const void* own, std::size_t bytes, void* all) { plane->all_gather(own, bytes, all); };
      f(dp::process_group(dp::parallel::shared_memory_transport::connect({rank, 4, rank, 4}, exchange, plane, 4096)));
    });
  return processes.wait();
}

std::string text_of_all(const std::vector<forked_ranks::outcome>& ends) {
  std::string all;
  for (const auto& one : ends) {
    CHECK(one.end == "exit 75");
    all += one.text;
  }
  return all;
}

}  // namespace

TEST_CASE("a process that makes another call in a part is named", "[process][control_plane]") {
  const auto ends = run_group(dp::test::quick(), [](const dp::process_group& group) {
    group.barrier();
    const dp::process_group pair = group.split(group.rank() % 2, -group.rank());  // of ranks 3 and 1
    for (int i = 0; i != 4; ++i) static_cast<void>(pair.all_gather(i));
    static_cast<void>(group.rank() == 1 ? pair.broadcast(1) : pair.all_gather(1)[0]);
    forked_ranks::sleep_for(20);
  });
  CHECK_THAT(text_of_all(ends), ContainsSubstring(") makes broadcast #5 (1 x 4 bytes) where rank ") ||
                                    ContainsSubstring(") makes all_gather #5 (1 x 4 bytes) where rank "));
}

TEST_CASE("a process that leaves out a call of a part is named", "[process][control_plane]") {
  const auto ends = run_group(dp::test::quick(), [](const dp::process_group& group) {
    const dp::process_group three = group.split(group.rank() == 0 ? 0 : 1);
    const dp::process_group same = three.split(0, -group.rank());  // a part of a part, in another order
    for (int i = 0; i != 4; ++i) static_cast<void>(same.all_gather(i));
    if (group.rank() != 3) static_cast<void>(same.all_gather(4.0));
    if (group.rank() != 0) same.barrier();
    forked_ranks::sleep_for(20);
  });
  const std::string text = text_of_all(ends);
  CHECK_THAT(text, ContainsSubstring("devplace: rank 3 (host "));
  CHECK_THAT(text, ContainsSubstring(") makes barrier #5 where rank 1 (host "));
  CHECK_THAT(text, ContainsSubstring(") makes all_gather #5 (1 x 8 bytes): all processes of a group must make the same "
                                     "collective calls in the same order. These calls are in the part of the group "
                                     "that split() made of ranks 1, 2, 3."));
}

TEST_CASE("a timed-out call of a part names the missing process", "[process][control_plane]") {
  auto options = dp::test::quick();
  options.op_timeout = 0.5;
  const auto ends = run_group(options, [](const dp::process_group& group) {
    const dp::process_group pair = group.split(group.rank() / 2);
    static_cast<void>(pair.all_gather(1));
    if (group.rank() == 2) forked_ranks::sleep_for(20);
    static_cast<void>(pair.all_gather(1));
    forked_ranks::sleep_for(20);
  });
  CHECK_THAT(text_of_all(ends),
             ContainsSubstring(") waits 0.5 s in all_gather #2 (1 x 4 bytes). Missing: rank 2 (host "));
}

TEST_CASE("a process that continues in the whole group is missing in its part", "[process][control_plane]") {
  auto options = dp::test::quick();
  options.op_timeout = 0.5;
  const auto ends = run_group(options, [](const dp::process_group& group) {
    const dp::process_group pair = group.split(group.rank() / 2);
    if (group.rank() != 1) pair.barrier();
    group.barrier();
  });
  // Either call may time out first.
  const std::string text = text_of_all(ends);
  CHECK_THAT(text, ContainsSubstring(") is after split #1 and waits in barrier #1 of the part with ranks 0, 1.") ||
                       ContainsSubstring(") is before its first collective call and waits in barrier #2 of the whole "
                                         "group. process_options::op_timeout"));
}

TEST_CASE("a process that ends its part while another process is in a later call is named",
          "[process][control_plane]") {
  const auto ends = run_group(dp::test::quick(), [](const dp::process_group& group) {
    {
      const dp::process_group pair = group.split(group.rank() / 2);
      pair.barrier();
      if (group.rank() == 3) pair.barrier();
    }
    group.barrier();
  });
  CHECK_THAT(text_of_all(ends), ContainsSubstring(") left the group after barrier #1, and rank 3 (host "));
}

TEST_CASE("parts of all kinds can be made and destroyed", "[process][control_plane]") {
  auto options = dp::test::quick();
  options.heartbeat = 0.002;
  const auto ends = run_group(options, [](const dp::process_group& group) {
    const int rank = group.rank();
    for (int round = 0; round != 30; ++round) {
      const dp::process_group part = group.split((rank + round) % 3, rank), inner = part.split(rank);
      for (int i = 0; i != rank % 3; ++i) inner.split(0).barrier();  // only in this part
      for (int i = 0; i != 20; ++i) {
        if (part.all_reduce(1) != part.size()) throw std::runtime_error("another sum");
        if (round % 7 == 0) forked_ranks::sleep_for(0.0005);
      }
      if (round % 2 == 0) group.barrier();
    }
  });
  for (const auto& one : ends) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}
