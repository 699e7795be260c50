// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/runtime/pass.hpp>

namespace devplace::parallel {

/// Consecutive layers of a network, or a slice of the rows of one layer, whose parameters are gathered together by the
/// places of a model in shares. The slices of a layer are in the order of a forward pass, which begins with the last.
struct unit {
  runtime::link_range links;      ///< the layers
  bucket trained;                 ///< their trained parameters
  bucket frozen;                  ///< their frozen parameters, counted from the first frozen one of the network
  std::size_t reductions = 0;     ///< reductions over the places in a pass through the layers
  std::size_t before = 0;         ///< reductions in a pass through the layers before
  bool read_in_backward = false;  ///< whether backward reads the parameters
  bucket masters = {};  ///< in mixed precision: elements of the gathered unit, trained ones first, from the first to
                        ///< the last layer that reads parameters in the optimizer's type
  runtime::row_range rows = {};  ///< the rows of a slice
  std::size_t behind = 0;        ///< number of elements of a slice behind its rows

  /// Whether the unit is a slice of a layer.
  constexpr bool is_slice() const { return !(rows == runtime::row_range{}); }
};

/// Stands for a unit of a network where there is none.
inline constexpr std::size_t no_unit = static_cast<std::size_t>(-1);

}  // namespace devplace::parallel
