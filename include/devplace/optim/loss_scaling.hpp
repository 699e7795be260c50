// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <devplace/optim/option_range.hpp>
#include <devplace/runtime/loss_scale.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

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

  static constexpr const char* name = "loss_scaling";  ///< begins messages about options
  /// Lists the options for validate and for comparison between processes.
  static void for_each_option(auto& self, auto&& f) {
    constexpr number_range scale{[](double x) {
                                   return devplace::detail::is_finite(static_cast<float>(x)) &&
                                          static_cast<float>(x) >= runtime::loss_scale::smallest;
                                 },
                                 "a finite float of at least 1.18e-38, the smallest normal one"};
    f("initial_scale", self.initial_scale, scale);
    f("growth_factor", self.growth_factor, number_range{[](double x) { return x > 1; }, "above 1"});
    f("backoff_factor", self.backoff_factor,
      number_range{[](double x) { return x > 0 && x < 1; }, "above 0 and below 1"});
    f("growth_interval", self.growth_interval, at_least{1, "a number of steps"});
  }
};

/// The loss scaling of a trainer in mixed<half>, for checkpoints: the scale of the next step's loss, and counters.
struct loss_scaler_state {
  double scale;                 ///< a float: GradScaler's _scale
  std::int64_t growth_tracker;  ///< steps since the scale changed or a step was skipped: GradScaler's _growth_tracker
  /// Steps that changed nothing, because a gradient or the factor that undoes the scale was not finite.
  std::int64_t skipped_steps;

  /// Whether all numbers are equal.
  friend bool operator==(const loss_scaler_state&, const loss_scaler_state&) = default;
};

}  // namespace devplace::optim
