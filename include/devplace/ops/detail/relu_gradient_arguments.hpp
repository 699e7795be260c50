// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace::detail {

/// to = dy where y > 0, else 0 (also where y is NaN), all contiguous [rows, columns]; `to` may be `dy`. And sums =
/// column sums of `to` + beta sums; with beta 0, sums is not read.
template <class T>
struct relu_gradient_arguments {
  std::size_t rows, columns;
  T* to;
  const T* dy;
  const T* y;
  T* sums;
  T beta;
};

}  // namespace devplace::detail
