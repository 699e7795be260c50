// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/memory/block.hpp>

#include "support/timing.hpp"

namespace devplace::bench {

/// Returns the seconds per call of asynchronous work on place `P`: after warm-up calls, the mean over as many
/// consecutive calls as take about `seconds`, with one wait at the end.
template <place P, class Call> double time_on(Call&& call, double seconds = 0.05) {
  for (int i = 0; i < 3; ++i) call();
  synchronize<P>();
  for (std::size_t calls = 1;; calls *= 2) {
    const double begin = now();
    for (std::size_t i = 0; i < calls; ++i) call();
    synchronize<P>();
    const double taken = now() - begin;
    if (taken >= seconds) return taken / static_cast<double>(calls);
  }
}

}  // namespace devplace::bench
