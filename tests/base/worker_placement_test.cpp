// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which processors the threads of a team run on.

#include <devplace/base/thread_team.hpp>

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

using clock_type = std::chrono::steady_clock;

/// The processors that a thread may use; thread 0 is the caller. Empty if a cpu_set_t is too small.
std::vector<int> processors_of(int thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> found;
  if (::sched_getaffinity(thread, sizeof mask, &mask) != 0) return found;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &mask)) found.push_back(static_cast<int>(i));
  return found;
}

/// Restricts the calling thread to these processors; moves it at once if necessary.
void use_processors(const std::vector<int>& processors) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &mask);
  ::sched_setaffinity(0, sizeof mask, &mask);
}

/// Restricts the calling thread to its first two processors.
struct two_processors {
  std::vector<int> all = processors_of(0);
  std::vector<int> two{all.begin(), all.begin() + (all.size() < 2 ? 0 : 2)};

  two_processors() {
    if (!two.empty()) use_processors(two);
  }
  two_processors(const two_processors&) = delete;
  two_processors& operator=(const two_processors&) = delete;
  ~two_processors() {
    if (!all.empty()) use_processors(all);
  }
};

/// A thread that is always runnable on a processor and always yields.
struct yielding_thread {
  std::atomic<bool> stop = false;
  std::thread thread;

  explicit yielding_thread(int processor)
      : thread([this, processor] {
          use_processors({processor});
          while (!stop) std::this_thread::yield();
        }) {}
  yielding_thread(const yielding_thread&) = delete;
  yielding_thread& operator=(const yielding_thread&) = delete;
  ~yielding_thread() {
    stop = true;
    thread.join();
  }
};

/// The processor on which a thread runs or waits to run, from /proc; -1 if unavailable.
int processor_of(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream fields(text.substr(name_end + 1));  // from the third on
  for (int field = 3; field < 39; ++field) fields >> text;
  int processor = -1;
  fields >> processor;
  return processor;
}

}  // namespace

TEST_CASE("a worker leaves the caller's processor even if no other processor is idle", "[base][thread_team]") {
  const two_processors usable;
  const std::vector<int>& two = usable.two;
  if (two.empty()) DEVPLACE_SKIP("this process may use one processor only, or too many for this test");
  dp::builtin_thread_team team(2);
  const yielding_thread other(two[1]);
  use_processors({two[0]});
  int worker = 0;
  const auto come_here = [&](int member) {
    if (member == 0) return;
    use_processors({two[0]});
    use_processors(two);
    worker = ::gettid();
  };
  // The kernel would also move the worker, after hundreds of such runs. On a busy machine, where both threads take
  // turns differently, the team sometimes sees no reason to move it.
  bool left = false;
  static constexpr char tags[3] = {};
  for (const char& tag : tags) {
    team.prepare_workers(&tag, dp::detail::team_task(come_here));
    for (int run = 0; run < 10 && !left; ++run) {
      team.run([](int) {
        for (const auto begin = clock_type::now(); clock_type::now() - begin < std::chrono::microseconds(200);) {
        }
      });
      left = processor_of(worker) == two[1];
    }
    if (left) break;
  }
  CHECK(left);
  CHECK(processors_of(worker) == two);
}
