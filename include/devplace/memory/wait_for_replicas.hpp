// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>

#include <devplace/memory/event.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::detail {

struct replica_failure {
  device_failure failure;
  std::size_t replica = 0;
};

/// Waits for all of these devices and clears their failures. Returns the first failure, in the order of the devices,
/// that originated on the device that reports it. Without such a failure, returns the first reported failure. If that
/// failure originated on another one of these devices, names that device's replica.
template <class Backend> replica_failure drain_replicas(std::span<const int> ordinals) {
  replica_failure result;
  bool at_origin = false;
  for (std::size_t k = 0; k < ordinals.size(); ++k) {
    const device_failure found = events_of<Backend>().drain(ordinals[k]);
    if (!found || at_origin) continue;
    at_origin = found.ordinal == ordinals[k];
    const auto origin = std::find(ordinals.begin(), ordinals.end(), found.ordinal);
    if (at_origin || !result.failure)
      result = {found, origin == ordinals.end() ? k : static_cast<std::size_t>(origin - ordinals.begin())};
  }
  return result;
}

/// Throws a replica's failure, with the replica's name if there are several.
template <class Backend> [[noreturn]] void throw_failure(const replica_failure& failed, std::span<const int> ordinals) {
  if (ordinals.size() == 1) std::rethrow_exception(failed.failure.what);
  rethrow_for_replica(failed.failure.what, failed.replica, ordinals.size(),
                      place_name(Backend{}, ordinals[failed.replica]));
}

template <class Backend> void wait_for_replicas(std::span<const int> ordinals) {
  const replica_failure failed = drain_replicas<Backend>(ordinals);
  if (failed.failure) throw_failure<Backend>(failed, ordinals);
}

}  // namespace devplace::detail
