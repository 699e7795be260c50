// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/memory/stream.hpp>

namespace devplace {

/// All streams of a simulated device share its worker, which executes their work in the order of the calls.
template <>
struct implementation<backend::cuda, op::streams> {
  static detail::stream_handle create(int ordinal) {
    static_cast<void>(detail::simulated_devices::at(ordinal));
    return {nullptr, {ordinal, nullptr}};
  }
  static detail::stream_handle own(int ordinal) { return create(ordinal); }
  static void synchronize(int ordinal, void*) { detail::simulated_devices::at(ordinal).wait(); }
  static bool ready(int ordinal, void*) { return detail::simulated_devices::at(ordinal).idle(); }
};

}  // namespace devplace
