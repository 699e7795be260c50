// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/flatten.hpp>

namespace devplace::nn {

/// Passes the input on, as a branch of sum_of or concat_of. Costs nothing inside a network.
struct identity : flatten {
  /// Members that layer_for requires.
  ///@{
  template <class In> using output = In;
  static constexpr bool works_on_rows = true;
  ///@}
};

}  // namespace devplace::nn
