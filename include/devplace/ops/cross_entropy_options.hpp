// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// Options of PyTorch's cross_entropy, under the same names.
template <floating_element T> struct cross_entropy_options {
  std::int64_t ignore_index = -100;  ///< rows with this label are ignored
  T label_smoothing = 0;             ///< 0 to 1: the share of the target that is spread evenly over all classes
  const T* class_weights = nullptr;  ///< one weight per class, on the logits' place; null: all 1
};

}  // namespace devplace
