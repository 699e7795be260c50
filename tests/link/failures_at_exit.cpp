// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// At exit a program writes one sentence to stderr for a failed step whose loss was not read, and nothing otherwise.
// With a device that never finishes, synchronize throws after DEVPLACE_DEVICE_TIMEOUT, and the program ends.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <devplace/all.hpp>

#include "support/failing_parts.hpp"
#include "support/in_child.hpp"
#include "training.hpp"

namespace {

namespace dp = devplace;
namespace nn = dp::nn;
using two = dp::replicated<0, 1>;

/// Work that runs until the host ends it.
struct endless_work {
  const std::atomic<bool>* end;
  void operator()(std::size_t) const {
    while (!*end) std::this_thread::yield();
  }
};

/// Two steps; if `fails`, the second has an invalid label on cuda:1. Reads the mean loss if `reads`.
void train(bool fails, bool reads) {
  const std::array<float, 24> x{};
  std::array<std::int64_t, 4> y{};
  const auto images = dp::to_batch<two>(dp::wrap(x, dp::extents<dp::dyn, 6>{4}));
  const auto labels = dp::to_batch<two>(dp::wrap(y, dp::extents<dp::dyn>{4}));
  y[3] = fails ? 17 : 2;
  const auto more = dp::to_batch<two>(dp::wrap(y, dp::extents<dp::dyn>{4}));
  dp::model<training::net, two> model{dp::seed{3}};
  dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::optim::adam{}};
  step(images, labels).item();
  static std::atomic<bool> go = false;
  dp::detail::for_each_index<dp::backend::cuda>(1, 1, 1, endless_work{&go});  // fails after the step is enqueued
  step(images, more);
  go = true;
  try {
    if (reads) step.mean_loss();
  } catch (const dp::argument_error&) {
  }
}

/// Enqueues endless work on cuda:1. If `waits`, checks that waiting calls on the stuck device throw.
void run_endless_work(bool waits) {
  static const std::atomic<bool> never = false;
  const auto x = dp::zeros<float, dp::on<dp::cuda<1>>>(dp::extents<4>{});
  dp::detail::for_each_index<dp::backend::cuda>(1, 1, 1, endless_work{&never});
  if (!waits) return;
  for (int i = 0; i < 2; ++i) try {
      dp::synchronize<dp::cuda<1>>();
      std::fputs("no exception", stderr);
    } catch (const dp::device_lost& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  try {
    static_cast<void>(dp::to<dp::cpu>(x));
    std::fputs("no exception", stderr);
  } catch (const dp::device_lost&) {
  }
  dp::synchronize<dp::cuda<0>>();
}

/// A wait for cuda:0, which needs results of cuda:1, throws the failure of cuda:1.
void fail_elsewhere() {
  dp::detail::for_each_index<dp::backend::cuda>(1, 1, 1, [](std::size_t) { throw dp::error("it failed"); });
  dp::event<dp::cuda<1>> done;
  done.record();
  done.before<dp::cuda<0>>();
  try {
    dp::synchronize<dp::cuda<0>>();
    std::fputs("no exception", stderr);
  } catch (const dp::error&) {
  }
}

/// Waits for cuda:0, which waits for the stuck cuda:1.
void wait_for_stuck_device() {
  static const std::atomic<bool> never = false;
  dp::detail::for_each_index<dp::backend::cuda>(1, 1, 1, endless_work{&never});
  dp::event<dp::cuda<1>> done;
  done.record();
  done.before<dp::cuda<0>>();
  try {
    dp::synchronize<dp::cuda<0>>();
    std::fputs("no exception", stderr);
  } catch (const dp::device_lost& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  dp::synchronize<dp::cuda<0>>();
}

/// The first use of a device throws the error about an invalid environment variable.
void use_with_wrong_environment() {
  try {
    static_cast<void>(dp::zeros<float, dp::cuda<0>>(3));
    std::fputs("no exception", stderr);
  } catch (const dp::argument_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

bool expect(const char* what, bool holds, const std::string& text) {
  if (!holds) std::printf("%s: \"%s\"\n", what, text.c_str());
  return holds;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "2", 1);
  bool good = true;
  const std::string unread = support::in_child([] { train(true, false); });
  good &= expect("unread", unread.starts_with("devplace: cuda:1 failed, and the program ended without"), unread);
  good &= expect("unread", contains(unread, "label 17") && unread.find('\n') == unread.size() - 1, unread);
  const std::string read = support::in_child([] { train(true, true); });
  good &= expect("read", read.empty(), read);
  const std::string fine = support::in_child([] { train(false, false); });
  good &= expect("no failure", fine.empty(), fine);
  const std::string elsewhere = support::in_child(fail_elsewhere);
  good &= expect("thrown by another device", elsewhere.empty(), elsewhere);
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "soon", 1);
  const std::string wrong = support::in_child(use_with_wrong_environment);
  good &= expect("wrong timeout",
                 wrong.starts_with("devplace: the environment variable DEVPLACE_DEVICE_TIMEOUT is \"soon\"") &&
                     !contains(wrong, "status"),
                 wrong);
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "1", 1);
  const std::string followed = support::in_child(wait_for_stuck_device);
  good &= expect("stuck before",
                 followed.starts_with("devplace: cuda:1 has not finished ") && contains(followed, "endless_work") &&
                     !contains(followed, "status"),
                 followed);
  const std::string stuck = support::in_child([] { run_endless_work(true); });
  good &= expect("stuck", stuck.starts_with("devplace: cuda:1 has not finished ") && contains(stuck, "endless_work"),
                 stuck);
  good &=
      expect("stuck, again", contains(stuck, "\ndevplace: cuda:1 has not") && !contains(stuck, "no exception"), stuck);
  good &= expect("stuck, status", !contains(stuck, "status"), stuck);
  const std::string ended = support::in_child([] { run_endless_work(false); });
  good &= expect("stuck at exit",
                 contains(ended, "cuda:1 failed, and the program ended") && contains(ended, "has not finished"), ended);
  const std::string trained = support::in_child([] { train(false, false); });
  good &= expect("with a timeout", trained.empty(), trained);
  return good ? 0 : 1;
}
