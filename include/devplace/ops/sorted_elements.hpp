// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace {

/// The direction of a sort.
enum class sort_order : unsigned char {
  ascending,  ///< smallest first, NaN last
  descending  ///< largest first, NaN before all numbers
};

/// The first elements of each sorted row and their positions in the original rows.
template <class Values, class Positions> struct sorted_elements {
  Values values;        ///< of x's element type
  Positions positions;  ///< int64, counted from 0 in each row
};

}  // namespace devplace
