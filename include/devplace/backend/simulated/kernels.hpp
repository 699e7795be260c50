// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace detail {

/// Names an operation and its arguments in messages.
template <class Op, class... Arguments> struct kernel_of;

}  // namespace detail

/// Runs any operation that has a CPU implementation: the CPU's code, on the thread of a simulated device.
template <class Op>
  requires requires { sizeof(implementation<backend::cpu, Op>); }
struct implementation<backend::cuda, Op> {
  template <class... Arguments> static void run(int ordinal, const Arguments&... arguments) {
    detail::simulated_devices::current(ordinal).submit<false, detail::kernel_of<Op, Arguments...>>(
        [arguments...] { implementation<backend::cpu, Op>::run(0, arguments...); });
  }
};

}  // namespace devplace
