// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

// The number of ghost rows of a field (parallel/field.hpp), and the rules by which an exchange fills those at its
// edges.

namespace devplace {

/// Ghost rows of a field: their number on each side of axis 0, axis 1, ...; 0 for axes that are not named. `halo<1, 1>`
/// suits stencils of 5 and 9 points, `halo<2>` one that reads two rows above and below.
template <std::size_t... Width> struct halo {
  /// The number of ghost rows on each side of an axis.
  static constexpr std::size_t width(std::size_t axis) {
    const std::size_t widths[] = {Width..., 0};
    return axis < sizeof...(Width) ? widths[axis] : 0;
  }
  /// Number of axes that are named.
  static constexpr std::size_t rank = sizeof...(Width);
};

/// Rules for the ghost rows beyond the edges of the whole field. Ghost rows between two parts always have the
/// neighbour's cells.
namespace edge {

/// The kinds of edges.
enum class kind : unsigned char { periodic, mirrored, fixed };

/// The rule for both edges of an axis.
struct rule {
  edge::kind kind = kind::periodic;  ///< the kind of both edges
  double low = 0;                    ///< the value before index 0 of a fixed edge
  double high = 0;                   ///< the value after the last index of a fixed edge
};

/// The cells at the other end of the axis.
inline constexpr rule periodic{kind::periodic};
/// The cells before the edge in reverse order, the last one first, as NumPy's pad with "symmetric": nothing flows
/// through the edge.
inline constexpr rule mirrored{kind::mirrored};
/// A value, or one before the first and one after the last index.
///@{
constexpr rule fixed(double value) { return {kind::fixed, value, value}; }
constexpr rule fixed(double low, double high) { return {kind::fixed, low, high}; }
///@}

}  // namespace edge

}  // namespace devplace
