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

#include <devplace/place/detail/spin_wait.hpp>

namespace devplace::parallel::detail {

/// What a process says about a call, so that the others see whether they are in the same one.
struct shared_call {
  enum call_kind : std::uint32_t { collect, distribute, barrier, split, everywhere };

  std::uint32_t kind = collect;
  std::uint32_t buffers = 0;
  std::uint64_t bytes = 0;       ///< of a buffer
  std::uint64_t boundaries = 0;  ///< a number computed of them

  friend bool operator==(const shared_call&, const shared_call&) = default;

  /// As in `rank 1 ` + `distributes 1 buffer of 24 bytes`.
  std::string text() const {
    if (kind == barrier) return "waits at a barrier";
    return std::string(kind == collect || kind == everywhere ? "reduces "
                       : kind == distribute                  ? "broadcasts or gathers "
                                                             : "splits the group by ") +
           std::to_string(buffers) + (buffers == 1 ? " buffer of " : " buffers of ") + std::to_string(bytes) + " bytes";
  }
};

/// What a process tells the others in shared memory: the number of the call that it is in, whose data it has written
/// before. Calls have consecutive numbers, which wrap; since no process is ahead of another one by more than one call,
/// their difference says which is earlier. The first number is such that programs meet the wrap.
struct alignas(128) shared_arrival {
  static constexpr std::uint32_t no_call = 0xffff'ff00U;

  std::atomic<std::uint32_t> call{no_call};
  std::atomic<std::uint32_t> sleepers{0};  ///< processes that sleep until `call` changes
  std::atomic<std::uint32_t> left{0};      ///< not 0: no further call will come
  shared_call calls[2];                    ///< of the latest call with an even and with an odd number

  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

  bool reached(std::uint32_t number) const noexcept {
    return static_cast<std::int32_t>(call.load(std::memory_order_acquire) - number) >= 0;
  }
  /// Tells the others that this process's data of call `number` is there.
  void arrive(std::uint32_t number) noexcept {
    call.store(number);
    if (sleepers.load() != 0) wake();
  }
  /// Tells the others not to wait for this process any more.
  void leave() noexcept {
    left.store(1);
    wake();
  }
  /// Sleeps until `call` changes, at most 2 milliseconds.
  void sleep(std::uint32_t number) noexcept {
    sleepers.fetch_add(1);
    const std::uint32_t seen = call.load();
    const std::timespec most{0, 2'000'000};
    if (static_cast<std::int32_t>(seen - number) < 0 && left.load() == 0)
      ::syscall(SYS_futex, &call, FUTEX_WAIT, seen, &most, nullptr, 0);
    sleepers.fetch_sub(1);
  }

 private:
  void wake() noexcept { ::syscall(SYS_futex, &call, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }
};

/// Waits until the process of `there` is in call `number`: at first awake, because to be woken takes tens of
/// microseconds, unless there are more processes than processors; then asleep. It never yields, which would hand the
/// processor to unrelated programs for milliseconds. Calls `check()` every few milliseconds; false if the process has
/// left instead.
template <class Check>
bool await_arrival(shared_arrival& there, std::uint32_t number, bool crowded, const Check& check) {
  const auto now = [] {
    std::timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  constexpr std::int64_t awake = 200'000;
  for (const std::int64_t begin = there.reached(number) ? 0 : now(); !there.reached(number);) {
    for (int pauses = 0; pauses != 20 && !there.reached(number); ++pauses)
      devplace::detail::processor_pause();
    if (!crowded && now() - begin < awake) continue;
    if (there.left.load() != 0) return there.reached(number);
    if (there.reached(number)) return true;
    check();
    there.sleep(number);
  }
  return true;
}

}  // namespace devplace::parallel::detail
