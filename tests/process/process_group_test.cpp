// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/process_group.hpp>

#include "support/catch.hpp"
#include "support/require_here.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::in_processes;

namespace {

/// Records the announced calls.
class recording_monitor final : public dp::parallel::group_monitor {
 public:
  void enter(const dp::parallel::collective_call& call) noexcept override {
    calls.push_back(std::string(call.name) + " of " + std::to_string(call.count) + " x " +
                    std::to_string(call.element_bytes));
  }
  void leave() noexcept override { calls.push_back("left"); }
  void check() override {}
  std::vector<std::string> calls;
};

class watched_transport final : public dp::parallel::transport {
 public:
  watched_transport() : transport({}) {}
  std::string description() const override { return "1 process, watched"; }
  std::size_t portion() const noexcept override { return 64; }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    alone_.start_collect(buffers, begins);
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    alone_.start_distribute(part, buffers, begins);
  }
  bool poll() override { return alone_.poll(); }
  void wait() override { alone_.wait(); }
  collected summands() noexcept override { return alone_.summands(); }
  void barrier() override {}
  std::shared_ptr<transport> split(int color, int key) override { return alone_.split(color, key); }
  dp::parallel::group_monitor* monitor() noexcept override { return &watch; }
  recording_monitor watch;

 private:
  dp::parallel::detail::transport_alone alone_;
};

}  // namespace

TEST_CASE("a process_group without a launcher is this process alone", "[process]") {
  const dp::process_group alone;
  CHECK(alone.rank() == 0);
  CHECK(alone.size() == 1);
  CHECK(alone.local_rank() == 0);
  CHECK(alone.local_size() == 1);
  CHECK(alone.is_main());
  CHECK(alone.description() == "rank 0 of 1 process");
  alone.barrier();
  CHECK(alone.all_reduce(2.5) == 2.5);
  CHECK(alone.all_reduce(7, dp::reduction::max) == 7);
  CHECK(alone.broadcast(std::uint64_t{42}) == 42);
  struct metric {
    int right;
    double loss;
  };
  const std::vector<metric> all = alone.all_gather(metric{3, 0.5});
  REQUIRE(all.size() == 1);
  CHECK(all[0].right == 3);
  CHECK(all[0].loss == 0.5);
  CHECK(alone.split(5).size() == 1);
}

TEST_CASE("collectives of small values give every process the same result", "[process]") {
  for (const int processes : {1, 2, 3, 5})
    in_processes(processes, [processes](const dp::process_group& group) {
      const int rank = group.rank();
      REQUIRE_HERE(group.size() == processes);
      REQUIRE_HERE(group.is_main() == (rank == 0));
      REQUIRE_HERE(group.all_reduce(rank + 1) == processes * (processes + 1) / 2);
      REQUIRE_HERE(group.all_reduce(rank, dp::reduction::max) == processes - 1);
      REQUIRE_HERE(group.all_reduce(rank, dp::reduction::min) == 0);
      REQUIRE_HERE(group.all_reduce(1.0 + rank, dp::reduction::mean) == (1.0 + processes) / 2);
      // Rank order matters: (1 + 1e100) - 1e100 is 0, but 1e100 - 1e100 + 1 is 1.
      const double term = rank == 0 ? 1 : rank == 1 ? 1e100 : rank == 2 ? -1e100 : 0;
      if (processes >= 3) REQUIRE_HERE(group.all_reduce(term) == 0);
      const std::vector<int> all = group.all_gather(10 * rank);
      for (int r = 0; r != processes; ++r) REQUIRE_HERE(all[static_cast<std::size_t>(r)] == 10 * r);
      for (int root = 0; root != processes; ++root) REQUIRE_HERE(group.broadcast(100 + rank, root) == 100 + root);
      group.barrier();
    });
}

TEST_CASE("a broadcast larger than a portion takes several portions", "[process]") {
  in_processes(
      3,
      [](const dp::process_group& group) {
        for (const std::size_t count : std::vector<std::size_t>{0, 1, 11, 24, 25, 100}) {
          std::vector<double> values(count, group.rank());
          for (std::size_t i = 0; group.rank() == 2 && i != count; ++i) values[i] = static_cast<double>(i);
          group.broadcast(std::span(values), 2);
          for (std::size_t i = 0; i != count; ++i) REQUIRE_HERE(values[i] == static_cast<double>(i));
        }
      },
      100);
}

TEST_CASE("broadcast accepts fixed-size arrays; all_gather accepts flags and large structs", "[process]") {
  in_processes(
      2,
      [](const dp::process_group& group) {
        std::array<int, 4> numbers{};
        if (group.rank() == 1) numbers = {1, 2, 3, 4};
        group.broadcast(std::span(numbers), 1);
        REQUIRE_HERE(numbers == std::array<int, 4>{1, 2, 3, 4});
        REQUIRE_HERE(group.all_reduce(group.rank() == 1, dp::reduction::max));
        REQUIRE_HERE(!group.all_reduce(group.rank() == 1, dp::reduction::min));
        struct table {
          double values[50];
        };
        table own{};
        own.values[49] = group.rank() + 1;
        const std::vector<table> all = group.all_gather(own);
        REQUIRE_HERE(all[0].values[49] == 1);
        REQUIRE_HERE(all[1].values[49] == 2);
      },
      100);
}

TEST_CASE("split groups the processes by color, ordered by key", "[process]") {
  in_processes(5, [](const dp::process_group& group) {
    const int rank = group.rank();
    const dp::process_group part = group.split(rank % 2, -rank);
    const std::vector<int> expected = rank % 2 == 0 ? std::vector{4, 2, 0} : std::vector{3, 1};
    REQUIRE_HERE(part.size() == static_cast<int>(expected.size()));
    REQUIRE_HERE(part.all_gather(rank) == expected);
    const dp::process_group again = group.split(0);
    REQUIRE_HERE(again.all_gather(rank) == std::vector{0, 1, 2, 3, 4});
  });
}

TEST_CASE("a process_scope is per thread, and scopes end in order", "[process]") {
  CHECK_THROWS_WITH(
      dp::parallel::current_processes("loader"),
      "devplace: loader: its placement lies across processes, and this thread has no process_scope. Make a "
      "process_group and a scope first, in the same thread: process_group processes; process_scope "
      "scope{processes};");
  in_processes(4, [](const dp::process_group& group) {
    std::optional<dp::process_scope> outer(group);
    REQUIRE_HERE(dp::parallel::current_processes("test").size() == 4);
    {
      const dp::process_scope inner{group.split(group.rank() / 2)};
      REQUIRE_HERE(dp::parallel::current_processes("test").size() == 2);
      REQUIRE_HERE(dp::parallel::current_processes("test").rank() == group.rank() % 2);
    }
    REQUIRE_HERE(dp::parallel::current_processes("test").size() == 4);
    outer.reset();
    bool refused = false;
    try {
      static_cast<void>(dp::parallel::current_processes("test"));
    } catch (const dp::error&) {
      refused = true;
    }
    REQUIRE_HERE(refused);
  });
}

TEST_CASE("collective calls are announced to the group's monitor", "[process]") {
  const auto transport = std::make_shared<watched_transport>();
  const dp::process_group group(transport);
  group.barrier();
  static_cast<void>(group.all_reduce(1.5));
  std::vector<double> values(20);
  group.broadcast(std::span(values));
  static_cast<void>(group.split(0));
  CHECK(transport->watch.calls == std::vector<std::string>{"barrier of 0 x 0", "left", "all_gather of 1 x 8", "left",
                                                           "broadcast of 20 x 8", "left", "split of 0 x 0", "left"});
}

TEST_CASE("a process_group rejects misuse by name", "[process]") {
  dp::process_group group;
  CHECK_THROWS_WITH(group.broadcast(1, 1),
                    ContainsSubstring("the root of a broadcast is rank 1; give one from 0 to 0."));
  CHECK_THROWS_WITH(group.all_reduce(1, dp::reduction::mean), ContainsSubstring("a mean over places is defined for"));
  CHECK_THROWS_WITH(dp::process_group(nullptr), ContainsSubstring("it was given no transport."));
  const dp::process_group taken = std::move(group);
  CHECK(taken.size() == 1);
  CHECK_THROWS_WITH(group.rank(), ContainsSubstring("this process_group was moved from; use the variable"));
}
