// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/place/detail/refusal.hpp>

namespace devplace {

/// Appears in the compiler's message when the gradient of a loss or of parameters is multiplied or divided as a whole.
struct THE_OPTIMIZER_DIVIDES_GRADIENTS_DO_NOT_SCALE_THEM;

}  // namespace devplace

/// What the gradients of losses and of parameters say when a program divides them.
#define DEVPLACE_DETAIL_UNDIVIDED                                                                                   \
  "gradients are sums over the samples, and the optimizer divides those of a mean by the samples' weights: do not " \
  "divide them again; scale the learning rate, or give weights to the loss."
