// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/stream.hpp>

namespace devplace {

/// The streams of a program share the device's worker, which executes their work in the order of the calls.
template <> struct implementation<backend::cuda, op::streams> {
  static detail::stream_handle create(int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));
    return {nullptr, ordinal, nullptr};
  }
  static detail::stream_handle create_without_memory(int ordinal) {
    return detail::naming_bad_alloc("a stream", [&]() -> detail::stream_handle {
      return {&detail::simulated_devices::take_worker(ordinal), ordinal, &release};
    });
  }
  static detail::stream_handle own(int ordinal) { return create(ordinal); }
  static void* native(void* state) { return state; }
  static void synchronize(int ordinal, void*) { detail::simulated_devices::at(ordinal).wait(); }
  static bool ready(int ordinal, void*) { return detail::simulated_devices::at(ordinal).idle(); }

 private:
  static void release(void* worker, int) noexcept {
    detail::simulated_devices::give_worker(*static_cast<detail::simulated_device*>(worker));
  }
};

}  // namespace devplace
