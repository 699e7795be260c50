// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/loss_scaling.hpp>
#include <devplace/runtime/loss_scale.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/train/detail/step.hpp>

namespace devplace::train::detail {

/// Whether trainers in this precision scale losses; fails to compile where they do not.
template <class P> consteval bool has_scaler() {
  constexpr bool scales = scales_losses<P>;
  static_assert(scales,
                "devplace: trainer: this precision has no loss scaling, which is for mixed<half>: gradients in float, "
                "double and bf16 have the exponents of float or more; leave the scaler out.");
  return scales;
}

/// The loss scaler of precisions without loss scaling; does nothing.
template <bool Scales> struct loss_scaler {
  std::size_t divisor = 1;
};

/// The loss scaling in mixed<half>: the options, and the divisor of the batches that are being accumulated.
template <> struct loss_scaler<true> {
  optim::loss_scaling options = {};
  /// As in PyTorch, gradients of a mean are divided by this number and multiplied by the scale before they are rounded.
  /// The first non-empty batch of an accumulation sets the divisor; empty batches before it set 0.
  std::size_t divisor = 1;
  bool of_samples = false;  ///< true: the mean is over the samples; false: over the targets

  /// Returns the divisor for the targets of a whole batch: the number of target elements (labels for losses of classes)
  /// or the number of samples.
  template <class Targets> std::size_t divisor_for(const Targets& targets, reduction loss_reduction) const {
    if (loss_reduction != reduction::mean) return 1;
    return of_samples ? targets.extent(0) : targets.size();
  }

  runtime::scaling_rule rule() const {
    return {options.growth_factor, options.backoff_factor, options.growth_interval};
  }
};

template <class Backend, class S, class T, std::size_t Places>
void set_scale(const runtime::model_state<S>& state, const std::array<step_memory<T>, Places>& memory,
               const optim::loss_scaler_state& to) {
  for (std::size_t k = 0; k < Places; ++k)
    devplace::detail::for_each_index<Backend>(
        state.replicas[k].ordinal, 1, 1,
        store_functor<runtime::loss_scale>{memory[k].scale(),
                                           {static_cast<float>(to.scale), 0, to.growth_tracker, to.skipped_steps}});
}

template <class Backend, class T> optim::loss_scaler_state read_scale(int ordinal, const step_memory<T>& memory) {
  runtime::loss_scale now;
  devplace::detail::copy_out<Backend>(ordinal, &now, memory.scale(), sizeof now);
  return {static_cast<double>(now.scale), now.growth_tracker, now.skipped_steps};
}

// A template, so that only programs that call it compile it.
template <class State> void require_scaler_state(const State& to) {
  const auto scale = static_cast<float>(to.scale);
  if (!devplace::detail::is_finite(scale) || !(scale >= runtime::loss_scale::smallest) || to.growth_tracker < 0 ||
      to.skipped_steps < 0)
    throw argument_error(
        "trainer: a loss scaler's scale is a finite float of at least 1.18e-38, the smallest normal one, and its "
        "counts are not negative; give the result of step.scaler().");
}

/// Throws if batches were accumulated, since their gradients have the old scale.
template <class Accumulation> void require_no_batches(const Accumulation& accumulated) {
  if (accumulated.batches != 0)
    throw error(
        "trainer: batches have been accumulated with the current loss scale, and an update divides all gradients by "
        "one scale; call flush() first, or change the scale after the update.");
}

}  // namespace devplace::train::detail
