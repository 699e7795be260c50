// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <string>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <devplace/base/clock.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/base/spin_wait.hpp>

namespace devplace::parallel::detail {

/// Describes a call, so that processes can check that they make equal calls.
struct shared_call {
  enum call_kind : std::uint16_t { collect, distribute, barrier, split, everywhere, messages };

  std::uint16_t kind = collect;
  std::uint16_t lends = 0;  ///< not 0: receivers copy the messages from the sender's memory
  std::uint32_t buffers = 0;
  std::uint64_t bytes = 0;       ///< size of a buffer
  std::uint64_t boundaries = 0;  ///< a hash of the boundaries

  /// Whether these are parts of one call, in which some processes may lend their memory.
  friend bool operator==(const shared_call& a, const shared_call& b) {
    return a.kind == b.kind && a.buffers == b.buffers && a.bytes == b.bytes && a.boundaries == b.boundaries;
  }

  /// The text after a rank in messages: `reduces 1 buffer of 24 bytes`.
  std::string text() const {
    if (kind == barrier) return "waits at a barrier";
    if (kind == messages) return "exchanges messages";
    return devplace::detail::joined({kind == collect || kind == everywhere ? "reduces "
                                     : kind == distribute                  ? "broadcasts or gathers "
                                                                           : "splits the group by ",
                                     buffers, buffers == 1 ? " buffer of " : " buffers of ", bytes, " bytes"});
  }
};

/// Publishes a process's progress in shared memory: the process stores the number of a call after it has written the
/// call's data. Numbers are consecutive and wrap around. No process is ahead of another by more than one call, so the
/// sign of the difference tells which number is earlier. The first number is close to the wrap-around, so that every
/// program exercises the wrap-around.
struct alignas(128) shared_arrival {
  static constexpr std::uint32_t no_call = 0xffff'ff00U;

  std::atomic<std::uint32_t> call{no_call};
  std::atomic<std::uint32_t> sleepers{0};  ///< processes that sleep until `call` changes
  std::atomic<std::uint32_t> left{0};      ///< not 0: no further call will come
  shared_call calls[2];                    ///< the latest calls with an even and with an odd number

  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

  bool reached(std::uint32_t number) const noexcept {
    return static_cast<std::int32_t>(call.load(std::memory_order_acquire) - number) >= 0;
  }
  /// Publishes that this process has written its data of call `number`.
  void arrive(std::uint32_t number) noexcept {
    call.store(number);
    if (sleepers.load() != 0) wake();
  }
  /// Publishes that this process makes no further call.
  void leave() noexcept {
    left.store(1);
    wake();
  }
  /// Sleeps until `call` changes, at most 2 milliseconds.
  void sleep(std::uint32_t number) noexcept {
    sleepers.fetch_add(1);
    const std::uint32_t seen = call.load();
    const std::timespec timeout{0, 2'000'000};
    if (static_cast<std::int32_t>(seen - number) < 0 && left.load() == 0)
      ::syscall(SYS_futex, &call, FUTEX_WAIT, seen, &timeout, nullptr, 0);
    sleepers.fetch_sub(1);
  }

 private:
  void wake() noexcept { ::syscall(SYS_futex, &call, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }
};

/// Waits until another process has entered call `number`; false if that process has left. Spins before it sleeps,
/// because waking up takes tens of microseconds. If there are more processes than processors, it sleeps almost at once.
/// Never yields, which would give the processor to unrelated programs for milliseconds. Calls `check()` every few
/// milliseconds.
bool await_arrival(shared_arrival& other, std::uint32_t number, bool oversubscribed, const auto& check) {
  constexpr double spin_seconds = 200e-6;
  for (const double begin = other.reached(number) ? 0 : devplace::detail::monotonic_seconds();
       !other.reached(number);) {
    for (int pauses = 0; pauses != 20 && !other.reached(number); ++pauses) devplace::detail::processor_pause();
    if (!oversubscribed && devplace::detail::monotonic_seconds() - begin < spin_seconds) continue;
    if (other.left.load() != 0) return other.reached(number);
    if (other.reached(number)) return true;
    check();
    other.sleep(number);
  }
  return true;
}

}  // namespace devplace::parallel::detail
