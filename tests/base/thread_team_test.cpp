// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/base/thread_team.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
  #include <sys/resource.h>
#endif

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/replaced_new.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;

namespace {

/// A minimal user-defined team, which starts threads for each run.
struct fresh_threads_team {
  int members;
  int runs = 0;

  int size() const { return members; }

  template <class Function> void run(Function function) {
    ++runs;
    std::vector<std::thread> threads;
    for (int member = 1; member < members; ++member) threads.emplace_back([=] { function(member); });
    function(0);
    for (std::thread& thread : threads) thread.join();
  }
};
static_assert(dp::thread_team<fresh_threads_team>);
static_assert(!dp::thread_team<std::vector<int>>);

std::string parse_error(const char* text) {
  try {
    dp::detail::parse_thread_count(text);
  } catch (const dp::argument_error& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace

TEST_CASE("OMP_NUM_THREADS is parsed strictly", "[base][thread_team]") {
  CHECK(dp::detail::parse_thread_count("1") == 1);
  CHECK(dp::detail::parse_thread_count("16") == 16);
  CHECK(dp::detail::parse_thread_count("4,2") == 4);
  CHECK(dp::detail::parse_thread_count(" 4 , 2 ,1") == 4);
  CHECK(dp::detail::parse_thread_count("4096") == 4096);
  for (const char* text : {"", " ", "0", "-1", "+2", "2x", "two", "4,", ",4", "4,,2", "4,0", "1.5", "0x10", "4 2",
                           "4097", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THAT(parse_error(text), Catch::Matchers::ContainsSubstring("OMP_NUM_THREADS=4"));
    CHECK_THAT(parse_error(text), Catch::Matchers::ContainsSubstring("\"" + std::string(text) + "\""));
  }
}

TEST_CASE("the environment overrides the affinity mask", "[base][thread_team]") {
  CHECK(dp::detail::default_thread_count(nullptr, 6) == 6);
  CHECK(dp::detail::default_thread_count("", 6) == 6);
  CHECK(dp::detail::default_thread_count("3", 6) == 3);
  CHECK(dp::detail::default_thread_count("8,1", 6) == 8);
  CHECK_THROWS_AS(dp::detail::default_thread_count("many", 6), dp::argument_error);
  CHECK(dp::detail::usable_processors() >= 1);
#if defined(__linux__)
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (int processor = 0; processor < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++processor) {
    if (CPU_ISSET(static_cast<unsigned>(processor), &before)) CPU_SET(static_cast<unsigned>(processor), &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(dp::detail::usable_processors() == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(dp::detail::usable_processors() == CPU_COUNT(&before));
#endif
}

TEST_CASE("a team runs every member once, each on a separate thread or on the caller's", "[base][thread_team]") {
  for (const int size : {1, 2, 3, 5}) {
    dp::builtin_thread_team team(size);
    REQUIRE(team.size() == size);
    std::vector<std::set<std::thread::id>> workers(static_cast<std::size_t>(size));
    const std::thread::id caller = std::this_thread::get_id();
    for (int repetition = 0; repetition < 200; ++repetition) {
      std::vector<int> calls(static_cast<std::size_t>(size), 0);
      std::vector<std::thread::id> threads(calls.size());
      team.run([&](int member) {
        ++calls[static_cast<std::size_t>(member)];
        threads[static_cast<std::size_t>(member)] = std::this_thread::get_id();
      });
      CHECK(calls == std::vector<int>(calls.size(), 1));
      CHECK(threads[0] == caller);
      for (std::size_t member = 0; member < threads.size(); ++member)
        if (threads[member] != caller) workers[member].insert(threads[member]);
    }
    std::set<std::thread::id> all;
    for (const auto& of_member : workers) {
      CHECK(of_member.size() <= 1);
      for (const std::thread::id id : of_member) CHECK(all.insert(id).second);
    }
  }
}

TEST_CASE("the caller runs the parts of late workers", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  bool by_caller = false;
  for (int repetition = 0; repetition < 20000 && !by_caller; ++repetition) {
    std::vector<std::thread::id> threads(7);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers sleep and wake up slowly
    team.run_parts(7, [&](int part) { threads[static_cast<std::size_t>(part)] = std::this_thread::get_id(); });
    CHECK(threads[1] == threads[4]);
    CHECK(threads[2] == threads[5]);
    by_caller = threads[1] == std::this_thread::get_id();
  }
  CHECK(by_caller);
}

TEST_CASE("late workers repeat no part in many short runs", "[base][thread_team]") {
  for (const bool awake : {false, true}) {
    dp::builtin_thread_team team(4);
    if (awake) team.keep_awake(true);
    std::vector<int> calls(9, 0);  // ThreadSanitizer sees two threads that run one part
    constexpr int runs = 20000;
    for (int run = 0; run < runs; ++run)
      team.run_parts(run % 2 == 0 ? 9 : 2, [&](int part) { ++calls[static_cast<std::size_t>(part)]; });
    CHECK(calls == std::vector<int>{runs, runs, runs / 2, runs / 2, runs / 2, runs / 2, runs / 2, runs / 2, runs / 2});
    if (awake) team.keep_awake(false);
  }
}

TEST_CASE("every worker's memory is prepared once, on its own thread, however late the worker starts",
          "[base][thread_team]") {
  dp::builtin_thread_team team(4);
  std::mutex held;
  std::set<std::thread::id> threads;
  int calls = 0;
  const auto prepare = [&] {
    static constexpr char tag = 0;
    const auto slowly = [&](int member) {
      if (member != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // later than the takeover
      const std::lock_guard lock(held);
      threads.insert(std::this_thread::get_id());
      ++calls;
    };
    const dp::thread_team_scope scope(team);
    dp::detail::prepare_threads(&tag, dp::detail::function_view<int>(slowly));
  };
  prepare();
  CHECK(threads.size() == 4);
  calls = 0;
  prepare();
  CHECK(calls == 1);  // only on this thread
  std::thread other([&] {
    team.run([&](int member) {
      if (member == 0) prepare();
    });
  });
  other.join();
  CHECK(calls == 2);
  team.resize(3);
  threads.clear();
  prepare();
  CHECK(threads.size() == 3);
}

TEST_CASE("a team with busy workers prepares only this thread", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  std::atomic<int> calls = 0;
  team.run([&](int member) {
    if (member != 0) return;
    static constexpr char tag = 0;
    const auto count = [&](int) { ++calls; };
    const dp::thread_team_scope scope(team);
    dp::detail::prepare_threads(&tag, dp::detail::function_view<int>(count));
  });
  CHECK(calls == 1);
}

TEST_CASE("sleeping workers wake up", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::atomic<int> calls = 0;
    team.run([&](int) { ++calls; });
    CHECK(calls == 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("a team is awake after an operation until a worker sleeps", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  const auto becomes = [&team](bool awake, const auto& between) {
    for (int attempt = 0; attempt != 10000; ++attempt, between())
      if (team.is_awake() == awake) return true;  // is_awake() may change at once: a worker falls asleep at any time
    return false;
  };
  for (int repetition = 0; repetition < 3; ++repetition) {
    CHECK(becomes(false, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }));
    CHECK(becomes(true, [&team] { team.run([](int) {}); }));
    CHECK(becomes(false, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }));
    CHECK(becomes(true, [&team] {
      team.keep_awake(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      team.keep_awake(false);
    }));
  }
  const dp::thread_team_scope lent(team);
  CHECK(becomes(true, [&team] { team.run([](int) {}); }));
  CHECK(becomes(false, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }));
  CHECK_FALSE(dp::detail::team_is_awake());
  const dp::thread_team_scope serial(dp::detail::serial_team_instance);
  CHECK_FALSE(dp::detail::team_is_awake());
}

TEST_CASE("a team rejects impossible sizes and changes only outside regions", "[base][thread_team]") {
  CHECK_THROWS_AS(dp::builtin_thread_team(0), dp::argument_error);
  CHECK_THROWS_AS(dp::builtin_thread_team(-3), dp::argument_error);
  CHECK_THROWS_AS(dp::builtin_thread_team(5000), dp::argument_error);
  const int before = dp::thread_count();
  CHECK_THROWS_WITH(dp::set_thread_count(0), Catch::Matchers::ContainsSubstring("Ask for 1 to 4096"));
  for (const int size : {4, 1, 3, 3, 2}) {
    dp::set_thread_count(size);
    CHECK(dp::thread_count() == size);
    std::atomic<int> calls = 0;
    dp::detail::parallel_members(size, [&](int) { ++calls; });
    CHECK(calls == size);
  }
  {
    const dp::team_region region;
    const dp::team_region inner;
    CHECK_THROWS_WITH(dp::set_thread_count(3), Catch::Matchers::ContainsSubstring("before it begins"));
    CHECK(dp::thread_count() == 2);
  }
  dp::set_thread_count(before);
  CHECK(dp::thread_count() == before);
}

#if !DEVPLACE_TEST_SANITIZED && defined(__linux__)  // sanitizers end the program when they get no memory
TEST_CASE("a team whose threads the operating system refuses has one member until it is resized",
          "[base][thread_team]") {
  CHECK(
      support::in_child([] {
        dp::set_thread_count(2);
        {
          dp::builtin_thread_team ended(4);
        }
        // No memory for stacks but those of ended threads, which the C library keeps: some threads start.
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        const rlim_t before = std::exchange(limit.rlim_cur, (pages + 1024) * 4096);
        ::setrlimit(RLIMIT_AS, &limit);
        const auto names_the_fix = [](const auto& start) {
          std::string text;
          try {
            start();
          } catch (const dp::error& refusal) {
            text = refusal.what();
          }
          const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
          return has("devplace: the operating system refused to start thread ") && has(" of 64 (") &&
                 has("). Ask for fewer threads (OMP_NUM_THREADS or set_thread_count) or raise the limit (ulimit -u).");
        };
        const bool named =
            names_the_fix([] { dp::builtin_thread_team team(64); }) && names_the_fix([] { dp::set_thread_count(64); });
        int calls = 0;
        dp::detail::parallel_members(3, [&](int) { ++calls; });
        const bool alone = dp::thread_count() == 1 && calls == 3;
        limit.rlim_cur = before;
        ::setrlimit(RLIMIT_AS, &limit);
        dp::set_thread_count(3);
        return named && alone && dp::thread_count() == 3;
      }).empty());
}
#endif

TEST_CASE("parallel_ranges covers each index once, in ranges of whole grains", "[base][thread_team]") {
  for (const int size : {1, 2, 3, 7}) {
    dp::builtin_thread_team team(size);
    const dp::thread_team_scope scope(team);
    REQUIRE(dp::thread_count() == size);
    for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 1000u, 4099u}) {
      for (const std::size_t grain : {0u, 1u, 2u, 3u, 16u, 32u, 64u, 1000u, 5000u}) {
        std::vector<int> seen(n, 0);
        std::atomic<std::size_t> ranges = 0;
        std::atomic<bool> whole = true;
        dp::detail::parallel_ranges(n, grain, [&](std::size_t begin, std::size_t end) {
          ++ranges;
          const std::size_t step = grain == 0 ? 1 : grain;
          if (begin >= end || end > n || begin % step != 0 || (end % step != 0 && end != n)) whole = false;
          for (std::size_t i = begin; i < end && i < n; ++i) ++seen[i];
        });
        CAPTURE(size, n, grain);
        CHECK(whole);
        CHECK(seen == std::vector<int>(n, 1));
        const std::size_t most = grain == 0 ? n : n / grain;
        const std::size_t members = static_cast<std::size_t>(size);
        const std::size_t expected = n == 0 ? 0 : most < 2 ? 1 : most < members ? most : members;
        CHECK(ranges == expected);
      }
    }
  }
}

TEST_CASE("the exception of the lowest member is rethrown, and the team remains usable", "[base][thread_team]") {
  dp::builtin_thread_team team(4);
  const dp::thread_team_scope scope(team);
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::atomic<int> calls = 0;
    const auto thrower = [&](int member) {
      ++calls;
      if (member >= 2) throw std::runtime_error("member " + std::to_string(member));
    };
    CHECK_THROWS_WITH(dp::detail::parallel_members(4, thrower), "member 2");
    CHECK(calls == 4);
    CHECK_THROWS_WITH(team.run(thrower), "member 2");
    CHECK(calls == 8);
  }
  CHECK_THROWS_WITH(
      dp::detail::parallel_ranges(
          100, 1, [](std::size_t begin, std::size_t) { throw std::runtime_error(std::to_string(begin)); }),
      "0");
  CHECK_THROWS_AS(dp::detail::parallel_ranges(1, 1, [](std::size_t, std::size_t) { throw dp::error("inline"); }),
                  dp::error);
  std::atomic<int> calls = 0;
  dp::detail::parallel_members(4, [&](int) { ++calls; });
  CHECK(calls == 4);
}

TEST_CASE("operations inside an operation run serially", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  const dp::thread_team_scope scope(team);
  std::vector<int> seen(300, 0);
  std::atomic<bool> serial = true;
  dp::detail::parallel_ranges(3, 1, [&](std::size_t outer, std::size_t) {
    if (dp::thread_count() != 1) serial = false;
    const std::thread::id self = std::this_thread::get_id();
    dp::detail::parallel_ranges(100, 1, [&](std::size_t begin, std::size_t end) {
      if (std::this_thread::get_id() != self || end - begin != 100) serial = false;
      for (std::size_t i = begin; i < end; ++i) ++seen[outer * 100 + i];
    });
  });
  CHECK(serial);
  CHECK(seen == std::vector<int>(300, 1));
  CHECK(dp::thread_count() == 3);
  std::atomic<int> calls = 0;  // nested run() of the same team: executed by the member itself
  team.run([&](int) { team.run([&](int) { ++calls; }); });
  CHECK(calls == 9);
}

TEST_CASE("a user's team does the work only within its scope", "[base][thread_team]") {
  const int before = dp::thread_count();
  fresh_threads_team team{5};
  {
    const dp::thread_team_scope scope(team);
    CHECK(dp::thread_count() == 5);
    std::vector<int> seen(1000, 0);
    dp::detail::parallel_ranges(1000, 10, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    CHECK(seen == std::vector<int>(1000, 1));
    CHECK(team.runs == 1);
    const dp::team_region region;  // no effect, because the team has no keep_awake
    dp::serial_team serial;
    {
      const dp::thread_team_scope inner(serial);
      CHECK(dp::thread_count() == 1);
      dp::detail::parallel_ranges(1000, 10, [](std::size_t, std::size_t) {});
      CHECK(team.runs == 1);
    }
    CHECK(dp::thread_count() == 5);
    int elsewhere = 0;  // other threads are not affected
    std::thread([&] { elsewhere = dp::thread_count(); }).join();
    CHECK(elsewhere == before);
    std::atomic<int> calls = 0;  // fewer parts than members
    dp::detail::parallel_members(2, [&](int) { ++calls; });
    CHECK(calls == 2);
  }
  CHECK(dp::thread_count() == before);
}

TEST_CASE("several threads share the process's team without deadlock", "[base][thread_team]") {
  const int before = dp::thread_count();
  dp::set_thread_count(3);
  std::atomic<bool> right = true;
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&right, user] {
      std::vector<int> seen(256, 0);
      for (int repetition = 1; repetition <= 100; ++repetition) {
        const dp::team_region region;
        dp::detail::parallel_ranges(256, static_cast<std::size_t>(8 + user), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        if (seen != std::vector<int>(256, repetition)) right = false;
      }
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(right);
  dp::set_thread_count(before);
}

TEST_CASE("the team may be resized while other threads use it", "[base][thread_team]") {
  const int before = dp::thread_count();
  std::atomic<bool> stop = false, right = true;
  std::thread user([&] {
    std::vector<int> seen(64, 0);
    for (int repetition = 1; !stop; ++repetition) {
      dp::detail::parallel_ranges(64, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      if (seen != std::vector<int>(64, repetition)) right = false;
    }
  });
  for (int repetition = 0; repetition < 20; ++repetition) dp::set_thread_count(1 + repetition % 4);
  stop = true;
  user.join();
  CHECK(right);
  dp::set_thread_count(before);
}

#if !DEVPLACE_TEST_SANITIZED
TEST_CASE("a parallel loop allocates nothing", "[base][thread_team]") {
  dp::builtin_thread_team team(3);
  const dp::thread_team_scope scope(team);
  std::vector<double> values(10000, 1.0);
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] *= 2;
  };
  dp::detail::parallel_ranges(values.size(), 16, work);
  const long before = support::allocations;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const dp::team_region region;
    dp::detail::parallel_ranges(values.size(), 16, [&](std::size_t begin, std::size_t end) {
      work(begin, end);
      for (std::size_t i = begin; i < end; ++i) values[i] *= 0.5;
    });
    dp::detail::parallel_members(3, [](int) {});
    team.run([](int) {});
  }
  CHECK(support::allocations == before);
  CHECK(values == std::vector<double>(values.size(), 2.0));
}
#endif

TEST_CASE("set_thread_count in a function that the team is running is an error", "[base][thread_team]") {
  const int before = dp::thread_count();
  dp::set_thread_count(3);
  for (int caller = 0; caller < 3; ++caller) {
    CHECK_THROWS_WITH(dp::detail::parallel_members(3,
                                                   [&](int member) {
                                                     if (member == caller) dp::set_thread_count(2);
                                                   }),
                      Catch::Matchers::ContainsSubstring("cannot change inside a function that these threads are "
                                                         "running. Call set_thread_count before the operation."));
    CHECK(dp::thread_count() == 3);
  }
  dp::builtin_thread_team other(2);
  other.run([](int member) {
    if (member == 0) dp::set_thread_count(2);  // the running team is `other`, not the process's
  });
  CHECK(dp::thread_count() == 2);
  dp::set_thread_count(before);
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("a child of fork() computes with new threads and exits", "[base][thread_team]") {
  dp::set_thread_count(3);
  const auto threads_used = [] {  // at most 3: the caller runs the parts of late workers
    std::set<std::thread::id> used;
    for (int repetition = 0; repetition < 1000 && used.size() < 3; ++repetition) {
      std::vector<std::thread::id> threads(3);
      dp::detail::parallel_members(3, [&](int member) {
        threads[static_cast<std::size_t>(member)] = std::this_thread::get_id();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
      used.insert(threads.begin(), threads.end());
    }
    return used.size();
  };
  CHECK(threads_used() == 3);
  CHECK(support::in_child([] { return true; }).empty());
  CHECK(support::in_child([] { return !dp::detail::team_is_awake(); }).empty());
  CHECK(support::in_child([&] { return threads_used() == 3; }).empty());
  CHECK(support::in_child([&] {
          dp::set_thread_count(2);
          dp::set_thread_count(3);
          return threads_used() == 3 && support::in_child([&] { return threads_used() == 3; }).empty();
        }).empty());
  SECTION("while another thread uses the workers") {
    std::atomic<bool> working = false, done = false;
    std::thread other([&] {
      dp::detail::parallel_members(3, [&](int) {
        working = true;
        while (!done) std::this_thread::yield();
      });
    });
    while (!working) std::this_thread::yield();
    CHECK(support::in_child([&] { return threads_used() == 3; }).empty());
    done = true;
    other.join();
  }
  CHECK(threads_used() == 3);
}
#endif
