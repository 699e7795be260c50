// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace {

/// Gradient accumulation: a trainer with `accumulate<k>` updates the parameters in every k-th call, with the gradient
/// of all k batches. The update equals that of a k times larger batch and needs the memory of one batch.
template <std::size_t Batches> struct accumulate {
  static_assert(static_cast<std::ptrdiff_t>(Batches) > 0,
                "devplace: accumulate<k> adds up the gradients of k batches; k is at least 1.");
  /// k as a value.
  static constexpr std::size_t batches = Batches;
};

}  // namespace devplace
