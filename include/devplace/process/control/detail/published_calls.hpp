// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <devplace/process/control/detail/messages.hpp>
#include <devplace/process/group_monitor.hpp>

namespace devplace::parallel::detail {

/// Holds the last collective calls of this process. The communicating thread writes them, wait-free; the watching
/// thread reads them.
class published_calls {
 public:
  void enter(const collective_call& call) noexcept {
    const std::uint64_t number = entered_.load(std::memory_order_relaxed) + 1;
    slot& s = slots_[number % control_state::remembered];
    // A reader that sees one of the new fields also sees that the old number has been cleared.
    s.number.store(0, std::memory_order_relaxed);
    s.name.store(call.name, std::memory_order_release);
    s.count.store(call.count, std::memory_order_release);
    s.element_bytes.store(call.element_bytes, std::memory_order_release);
    s.number.store(number, std::memory_order_release);
    entered_.store(number, std::memory_order_release);
  }
  void leave() noexcept { left_.store(entered_.load(std::memory_order_relaxed), std::memory_order_release); }

  /// Enters the last call again after it was left.
  void resume() noexcept {
    const std::uint64_t last = entered_.load(std::memory_order_relaxed);
    if (last != 0) left_.store(last - 1, std::memory_order_release);
  }

  /// Reads all fields except `waited`.
  control_state read() const noexcept {
    control_state state{};
    state.left = left_.load(std::memory_order_acquire);
    state.entered = entered_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i != control_state::remembered; ++i) {
      const slot& s = slots_[i];
      const std::uint64_t number = s.number.load(std::memory_order_acquire);
      const char* const name = s.name.load(std::memory_order_acquire);
      control_call& call = state.recent[i];
      call.count = s.count.load(std::memory_order_acquire);
      call.element_bytes = s.element_bytes.load(std::memory_order_acquire);
      if (number == 0 || s.number.load(std::memory_order_relaxed) != number) continue;
      call.number = number;
      call.name = name;
    }
    return state;
  }

 private:
  struct slot {
    std::atomic<std::uint64_t> number{0};
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> count{0}, element_bytes{0};
  };
  slot slots_[control_state::remembered];
  std::atomic<std::uint64_t> entered_{0}, left_{0};
};

}  // namespace devplace::parallel::detail
