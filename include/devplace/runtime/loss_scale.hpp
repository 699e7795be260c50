// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::runtime {

/// How a loss scale changes; see optim::loss_scaling.
struct scaling_rule {
  double growth_factor, backoff_factor;
  std::int64_t growth_interval;
};

/// The scale of losses on a place; decides there whether a step is skipped. Computes as torch.amp.GradScaler.update(),
/// but does not fall below `smallest`. GradScaler's scale falls to 0, from which it cannot grow again.
struct loss_scale {
  static constexpr float smallest = std::numeric_limits<float>::min();

  float scale;                  ///< scale of the next step's gradients
  std::uint32_t skips;          ///< whether the last step is skipped
  std::int64_t growth_tracker;  ///< steps since the last change of the scale or the last skipped step
  std::int64_t skipped_steps;   ///< since the start

  /// Decides, between a step's gradients and its update, whether to skip the step. `finite`: whether all gradients are
  /// finite. `undone`: whether the factor that undoes the scale is finite; the reciprocal of a very small scale is
  /// infinite.
  DEVPLACE_HD void decide(const scaling_rule& rule, bool finite, bool undone = true) {
    skips = finite && undone ? 0 : 1;
    skipped_steps += skips;
    if (!finite) {
      scale = static_cast<float>(static_cast<double>(scale) * rule.backoff_factor);
      if (scale < smallest) scale = smallest;
      growth_tracker = 0;
    } else if (++growth_tracker == rule.growth_interval) {
      const auto larger = static_cast<float>(static_cast<double>(scale) * rule.growth_factor);
      if (devplace::detail::is_finite(larger)) scale = larger;
      growth_tracker = 0;
    }
  }
};

}  // namespace devplace::runtime
