// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loaders with workers in a process that forks. The test holds the workers inside a batch during the fork, so that the
// child inherits a half-made batch.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <devplace/data/loader.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/labelled_samples.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using here = dp::on<dp::cpu>;

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
namespace {

/// Passes samples before `limit`, blocks threads at later samples, and counts the blocked threads.
struct gate {
  std::atomic<std::size_t> limit{0};
  std::atomic<int> held{0};
};

/// Changes a sample so that its contents also depend on the epoch.
struct passes_gate {
  gate* at;
  void operator()(std::span<float> sample, std::size_t index, int epoch) const {
    if (index >= at->limit) {
      ++at->held;
      while (index >= at->limit) std::this_thread::yield();
      --at->held;
    }
    sample[0] += static_cast<float>(epoch);
  }
};

constexpr std::size_t samples = 40, batch = 4;
const dp::loader_options with_workers{.batch = batch, .workers = 2, .prefetch = 2};

/// Returns when both workers are blocked inside a batch.
void wait_until_held(const gate& g) {
  while (g.held != 2) std::this_thread::yield();
}

/// Returns when all other threads of this process sleep. A child of fork() waits for ever for the lock of
/// AddressSanitizer's allocator if a thread of its parent has it during the fork.
void wait_until_workers_sleep() {
  const auto sleeps = [](const std::filesystem::path& thread) {
    std::ifstream status(thread / "stat");
    const std::string text{std::istreambuf_iterator<char>(status), {}};
    const std::size_t name_ends = text.rfind(") ");  // the state follows the name
    return text.substr(name_ends + 2, 1) == "S" || thread.filename() == std::to_string(::gettid());
  };
  std::filesystem::directory_iterator threads("/proc/self/task");
  while (!std::all_of(begin(threads), end(threads), sleeps)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    threads = std::filesystem::directory_iterator("/proc/self/task");
  }
}

/// Reads an epoch with a loader without threads.
auto expected_epoch(const dp::image_set& data, int epoch) {
  gate open{samples, {}};
  dp::loader<here> batches{data, {.batch = batch}, passes_gate{&open}};
  return support::read_epoch(batches, epoch);
}

/// Calls `f()` in a child, which is killed if it hangs. Returns how the child ended: `exit 0` if `f()` did not throw.
template <class F> std::string in_child(const F& f) {
  const auto ended = support::in_forked_processes(1, [&](int) { f(); }, 20);
  return ended[0].end + ended[0].text;
}

void require(bool fact, const char* what) {
  if (!fact) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("a loader with workers can be destroyed in a child of fork", "[data]") {
  const dp::image_set data = support::numbered_images(samples);
  gate g;
  std::optional<dp::loader<here>> batches(std::in_place, data, with_workers, passes_gate{&g});
  wait_until_workers_sleep();
  CHECK(in_child([&] { batches.reset(); }) == "exit 0");  // the workers wait for an epoch
  std::optional epoch = batches->epoch(0);
  wait_until_held(g);
  const auto destroy = [&] {
    epoch.reset();
    batches.reset();
  };
  CHECK(in_child(destroy) == "exit 0");
  g.limit = samples;
  destroy();
}

TEST_CASE("a child of fork can read epochs of a loader with workers", "[data]") {
  const dp::image_set data = support::numbered_images(samples);
  gate g{samples, {}};
  dp::loader<here> batches{data, with_workers, passes_gate{&g}};
  const auto reads = [&] {
    for (const int epoch : {1, 2})
      require(support::read_epoch(batches, epoch) == expected_epoch(data, epoch), "other batches");
  };
  wait_until_workers_sleep();
  CHECK(in_child(reads) == "exit 0");
  CHECK_NOTHROW(reads());
  wait_until_workers_sleep();
  CHECK(in_child(reads) == "exit 0");
  CHECK(in_child([&] { require(in_child(reads) == "exit 0", "not in a child's child"); }) == "exit 0");
}

TEST_CASE("a child of fork can leave or continue the loop over an epoch", "[data]") {
  const dp::image_set data = support::numbered_images(samples);
  const auto expected = expected_epoch(data, 0);
  for (const std::size_t read : {std::size_t{1}, std::size_t{3}}) {
    gate g{read * batch, {}};
    dp::loader<here> batches{data, with_workers, passes_gate{&g}};
    std::optional epoch = batches.epoch(0);
    auto at = epoch->begin();
    std::vector<float> found;
    const auto take = [&] { found.insert(found.end(), at->images.data(), at->images.data() + at->images.size()); };
    for (std::size_t i = 1; i != read; ++i, ++at) take();
    const auto continues = [&] {  // starts with the current batch at the fork
      for (; at != epoch->end(); ++at) take();
      require(found == expected.samples, "other batches");
    };
    wait_until_held(g);
    CHECK(in_child([&] {
            g.limit = samples;
            continues();
          }) == "exit 0");
    CHECK(in_child([&] {
            epoch.reset();  // leaves the loop while the parent's workers are inside batches
            g.limit = samples;
            require(support::read_epoch(batches, 1) == expected_epoch(data, 1), "other batches of the next epoch");
          }) == "exit 0");
    g.limit = samples;
    CHECK_NOTHROW(continues());
  }
}
#endif
