// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include <devplace/memory/block.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::detail {

/// Waits for all of these devices, also when one has failed, so that none keeps its failure for whoever waits for it
/// next. Throws the first failure in their order, with the replica's name where there are several.
template <class Backend, class Tu>
void wait_for_replicas(std::span<const int> ordinals) {
  std::exception_ptr failed;
  std::size_t replica = 0;
  for (std::size_t k = 0; k < ordinals.size(); ++k) {
    try {
      synchronize<Backend, Tu>(ordinals[k]);
    } catch (...) {
      if (failed) continue;
      failed = std::current_exception();
      replica = k;
    }
  }
  if (!failed) return;
  if (ordinals.size() == 1) std::rethrow_exception(failed);
  rethrow_for_replica(failed, replica, ordinals.size(), place_name(Backend{}, ordinals[replica]));
}

}  // namespace devplace::detail
