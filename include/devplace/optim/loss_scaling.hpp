// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <devplace/runtime/loss_scaling.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_options.hpp>

namespace devplace::optim {

/// Options of loss scaling in mixed<half>: a trainer multiplies losses by a scale, so that small gradients do not
/// become 0 in 16 bits. Names and defaults are those of torch.amp.GradScaler. A step with an infinite or NaN gradient
/// halves the scale and changes nothing else; 2,000 consecutive steps with finite gradients double the scale. Unlike
/// GradScaler's, the scale never falls below the smallest normal float, so that it can grow again.
struct loss_scaling {
  double initial_scale = 65536;         ///< at least the smallest normal float, 1.18e-38
  double growth_factor = 2;             ///< above 1
  double backoff_factor = 0.5;          ///< above 0 and below 1
  std::int64_t growth_interval = 2000;  ///< steps in a row before the scale grows

  /// Throws argument_error for a number out of its range.
  void validate() const {
    const auto scale = static_cast<float>(initial_scale);
    const auto require = [](bool valid, const char* name, double value, const char* range) {
      devplace::detail::require_option(valid, "loss_scaling", name, value, range);
    };
    require(devplace::detail::is_finite(scale) && scale >= runtime::loss_scale::smallest, "initial_scale",
            initial_scale, "a finite float of at least 1.18e-38, the smallest normal one");
    require(devplace::detail::is_finite(growth_factor) && growth_factor > 1, "growth_factor", growth_factor, "above 1");
    require(!devplace::detail::is_nan(backoff_factor) && backoff_factor > 0 && backoff_factor < 1, "backoff_factor",
            backoff_factor, "above 0 and below 1");
    require(growth_interval > 0, "growth_interval", static_cast<double>(growth_interval), "at least 1");
  }

  /// Calls f(name, value) for each option; processes compare them.
  void for_each_option(auto&& f) const {
    f("initial_scale", initial_scale);
    f("growth_factor", growth_factor);
    f("backoff_factor", backoff_factor);
    f("growth_interval", growth_interval);
  }
};

/// The loss scaling of a trainer in mixed<half>, for checkpoints: the scale of the next step's loss, and counters.
struct loss_scaler_state {
  double scale;                 ///< a float: GradScaler's _scale
  std::int64_t growth_tracker;  ///< steps since the scale changed or one was skipped: GradScaler's _growth_tracker
  /// Steps that changed nothing, because a gradient or the factor that undoes the scale was not finite.
  std::int64_t skipped_steps;

  /// Whether all numbers are equal.
  friend bool operator==(const loss_scaler_state&, const loss_scaler_state&) = default;
};

}  // namespace devplace::optim
