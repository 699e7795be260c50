// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/fork_count.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/sanitizers.hpp"

using devplace::detail::fork_count;

TEST_CASE("each fork() increments the count of the child only", "[base]") {
  const unsigned here = fork_count();
  CHECK(support::in_child([&] { return fork_count() == here + 1; }).empty());
  CHECK(support::in_child([&] {
          return support::in_child([&] { return fork_count() == here + 2; }).empty() && fork_count() == here + 1;
        }).empty());
  CHECK(fork_count() == here);
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("a child of fork() discards the parent's threads without joining them", "[base]") {
  // The thread waits during fork(): a thread that begins or ends may hold a lock, which the child would wait for.
  std::atomic<bool> has_begun = false, may_end = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    has_begun = true;
    has_begun.notify_one();
    may_end.wait(false);
  });
  has_begun.wait(false);
  CHECK(support::in_child([&] {
          devplace::detail::forget_threads(threads);
          const bool joinable = threads[0].joinable();
          threads.clear();  // would terminate the child if a handle were joinable
          return !joinable;
        }).empty());
  CHECK(threads.size() == 1);
  may_end = true;
  may_end.notify_one();
  threads[0].join();
}
#endif
