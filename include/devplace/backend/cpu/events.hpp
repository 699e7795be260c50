// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <devplace/memory/event.hpp>

namespace devplace {

/// CPU operations have completed or thrown when their call returns: every event is complete, and no device fails.
template <> struct implementation<backend::cpu, op::events> {
  static detail::event_handle create(int) { return {}; }
  static void record(int, void*) {}
  static void follow(int, void*) {}
  static void wait(void*, int) {}
  static bool ready(void*, int) { return true; }
  static detail::device_failure drain(int) { return {}; }
  static std::uint64_t failures(int) { return 0; }
};

}  // namespace devplace
