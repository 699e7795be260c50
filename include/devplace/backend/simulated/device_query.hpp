// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/backend/cpu/device_query.hpp>
#include <devplace/backend/simulated/devices.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

/// Simulated devices exist as far as DEVPLACE_SIMULATED_DEVICES says; each is one thread on the host's memory.
template <>
struct implementation<backend::cuda, op::device_query> {
  static int count() { return detail::simulated_device_count(); }
  static std::string why_unavailable(int ordinal) { return detail::why_not_simulated(ordinal); }
  static std::string support() { return "simulated CUDA on the host's memory, one thread for each device"; }
  static device_information describe(int ordinal) {
    return {detail::place_name(backend::cuda{}, ordinal),
            "simulated on " + detail::processor_name(),
            1,
            "cores",
            detail::host_memory_total(),
            detail::host_memory_free(),
            support()};
  }
};

}  // namespace devplace
