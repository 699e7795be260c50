// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/undivided.hpp>
#include <devplace/train/detail/step_mark.hpp>

namespace devplace {

/// The loss of one call of a trainer, which stays on the places until `item()` reads it. Valid until the next call.
/// Only one thread at a time may read it, and not during the next step.
template <class S, placement Where> class step_loss : public runtime::unread_loss<> {
 public:
  /// Refers to the sums on the model's first `replicas` replicas. The sums cover the whole batch or parts of it.
  step_loss(std::shared_ptr<runtime::model_state<S>> state, reduction loss_reduction, std::size_t replicas)
      : state_(std::move(state)), step_(state_->step), reduction_(loss_reduction), replicas_(replicas) {}
  /// Refers to the same sums as `other`, from which a move copies as well.
  ///@{
  step_loss(const step_loss& other) = default;
  step_loss& operator=(const step_loss& other) = default;
  ///@}

  /// Returns the loss of the whole batch on the host; waits for the places. NaN for a mean over no samples. Throws a
  /// place's failure with the place's name. Throws error if the model is unusable, or after the model's next pass,
  /// which overwrites the loss. Throws communication_error if the devices detected that processes trained differently.
  DEVPLACE_CONFIGURED typename runtime::replica<S>::accumulator item() const {
    if (state_->step != step_)
      throw error(
          "a step's loss was read after the next step had overwritten it; call item() before the next step, or "
          "use the trainer's mean_loss().");
    using T = typename runtime::replica<S>::accumulator;
    runtime::wait_for_model<placement_backend_t<Where>>(*state_);
    double total[2] = {0, 0};
    for (std::size_t k = 0; k < replicas_; ++k) {
      const auto& r = state_->replicas[k];
      T sums[3];
      detail::copy_out<placement_backend_t<Where>>(r.ordinal, sums, r.loss_sums(), sizeof sums);
      if constexpr (spans_processes<Where>)
        if (k == 0) train::detail::require_no_difference(sums[2]);
      total[0] += static_cast<double>(sums[0]);
      total[1] += static_cast<double>(sums[1]);
    }
    return runtime::loss_from<T>(total[0], total[1], reduction_);
  }

 private:
  std::shared_ptr<runtime::model_state<S>> state_;
  std::uint64_t step_;
  reduction reduction_;
  std::size_t replicas_;
};

template <class S, class Where> inline constexpr bool detail::not_printed<step_loss<S, Where>> = true;

}  // namespace devplace
