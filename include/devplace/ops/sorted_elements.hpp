// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace {

/// In which order a sort puts the elements.
enum class sort_order : unsigned char {
  ascending,  ///< smallest first, NaN last
  descending  ///< largest first, NaN first of all
};

/// The first elements of each row in an order, and where in their rows they were.
template <class Values, class Positions>
struct sorted_elements {
  Values values;        ///< of x's element type
  Positions positions;  ///< int64, counted from 0 in each row
};

}  // namespace devplace
