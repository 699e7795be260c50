// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/cpu/device_query.hpp>
#include <devplace/backend/simulated/driver.hpp>
#include <devplace/backend/simulated/pool.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace {

/// Simulated devices: each place is a thread that works in host memory. DEVPLACE_SIMULATED_DEVICES is the number of
/// devices; CUDA_VISIBLE_DEVICES selects some of them.
template <> struct implementation<backend::cuda, op::device_query> {
  static int count() { return detail::simulated_device_count(); }
  static std::string why_unavailable(int ordinal) { return detail::why_not_simulated(ordinal); }
  static std::string support() { return "simulated CUDA on the host's memory, one thread for each device"; }
  /// Returns the numbering. CUDA_DEVICE_ORDER does not change it, because all simulated devices are alike.
  static std::string numbering() { return detail::device_numbering::of_environment().text(); }
  static device_information describe(int ordinal) {
    const std::string missing = why_unavailable(ordinal);
    if (!missing.empty()) throw placement_unavailable(missing + ".");
    const detail::simulated_pool& pool = detail::simulated_pool::of_process();
    std::vector<std::string> peers;
    for (int other = 0; other < count(); ++other)
      if (other != ordinal && detail::simulated_peers(ordinal, other))
        peers.push_back(detail::place_name(backend::cuda{}, other));
    const detail::device_map& map = detail::device_map::of_process();
    const int visible = map.visible(ordinal), physical = detail::simulated_physical_device(ordinal);
    std::string binding;  // empty if all numbers are equal and no map is given
    if (map.given() || visible != ordinal || physical != ordinal)
      binding = detail::joined({"visible device ", visible, ", physical device ", physical});
    return {.place = detail::place_name(backend::cuda{}, ordinal),
            .processor = "simulated on " + detail::processor_name(),
            .units = 1,
            .unit_name = "cores",
            .memory_total = pool.limited() ? detail::simulated_memory_limit() : detail::host_memory_total(),
            .memory_free = pool.limited() ? pool.obtainable(physical) : detail::host_memory_free(),
            .support = support(),
            .device = std::move(binding),
            .peers = std::move(peers)};
  }
};

}  // namespace devplace
