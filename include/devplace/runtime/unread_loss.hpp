// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/place/detail/refusal.hpp>

namespace devplace {

/// Appear in the compiler's message when a loss is used as a number or as in PyTorch.
///@{
struct CALL_item_TO_READ_THE_LOSS;
struct THE_TRAINER_HAS_DONE_IT_OR_CALL_model_backward;
///@}

namespace runtime {

/// What is refused of losses: reading one waits for its places, so it has a name. The conversion is no template, which
/// arithmetic and clang's attribute would pass over.
template <class FIX = CALL_item_TO_READ_THE_LOSS>
struct unread_loss {
  operator double() const DEVPLACE_REFUSED(
      "a loss stays on its places until it is read; call loss.item(), or step.mean_loss() after the epoch.");
  template <class FIX_BACKWARD = THE_TRAINER_HAS_DONE_IT_OR_CALL_model_backward, class... Any>
  devplace::detail::refusal backward(const Any&...) const DEVPLACE_REFUSED(
      "a step of a trainer runs backward and updates the parameters; without a trainer it is "
      "model.backward(std::move(saved), gradient).");
};

}  // namespace runtime
}  // namespace devplace
