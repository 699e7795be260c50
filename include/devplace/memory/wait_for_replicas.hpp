// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include <devplace/memory/event.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::detail {

/// A failure, and which of several replicas it belongs to.
struct replica_failure {
  device_failure failure;
  std::size_t replica = 0;
};

/// Waits for all of these devices and returns the first failure in their order, but one that began on its device before
/// one that came from another; none of them keeps its failure for whoever waits for it next.
template <class Backend, class Tu>
replica_failure drain_replicas(std::span<const int> ordinals) {
  replica_failure result;
  for (std::size_t k = 0; k < ordinals.size(); ++k) {
    const device_failure found = drain<Backend, Tu>(ordinals[k]);
    if (!found) continue;
    const bool have_own = result.failure && result.failure.ordinal == ordinals[result.replica];
    if (!result.failure || (!have_own && found.ordinal == ordinals[k])) result = {found, k};
  }
  return result;
}

/// Throws a replica's failure, with its name where there are several.
template <class Backend>
[[noreturn]] void throw_failure(const replica_failure& failed, std::span<const int> ordinals) {
  if (ordinals.size() == 1) std::rethrow_exception(failed.failure.what);
  rethrow_for_replica(failed.failure.what, failed.replica, ordinals.size(),
                      place_name(Backend{}, ordinals[failed.replica]));
}

/// Waits for all of these devices and throws what failed on one of them.
template <class Backend, class Tu>
void wait_for_replicas(std::span<const int> ordinals) {
  const replica_failure failed = drain_replicas<Backend, Tu>(ordinals);
  if (failed.failure) throw_failure<Backend>(failed, ordinals);
}

}  // namespace devplace::detail
