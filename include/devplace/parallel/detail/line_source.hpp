// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/parallel/detail/cell_loop.hpp>

// Sources and reducers for reductions over the cells of a place's part: first along the last axis, to one result for
// each line, then over the lines.
namespace devplace::parallel::detail {

/// The values of a functor for the cells of a part, a line along the last axis for each result.
template <class F, std::size_t Rank, class... Cells> struct line_source {
  static constexpr bool has_only_runs = true;
  using axes = std::make_index_sequence<Rank>;
  using fields = std::index_sequence_for<Cells...>;
  static constexpr bool indexed = functor_call<F, axes, Cells...>::takes_indices;

  F f;
  packed_cells<fields, Cells...> cells;
  std::size_t sizes[Rank];  ///< of the part
  std::size_t begin[Rank];  ///< of the part, within the field

  struct line {
    F f;
    packed_cells<fields, Cells...> cells;
    std::size_t index[Rank];  ///< of the line's first cell, within the field
    std::size_t base;         ///< number of cells before the line

    DEVPLACE_HD_CALLS_ANY
    DEVPLACE_HD auto operator()(std::size_t i) const { return call_at<indexed>(f, cells, i - base, index, axes{}); }
  };

  DEVPLACE_HD line of_result(std::size_t number) const {
    std::size_t index[Rank] = {};
    std::size_t rest = number;
    for (std::size_t axis = Rank - 1; axis-- > 0; rest /= sizes[axis]) index[axis] = rest % sizes[axis];
    line result{f, all_moved_to(cells, index), {}, number * sizes[Rank - 1]};
    for (std::size_t axis = 0; axis != Rank; ++axis) result.index[axis] = begin[axis] + index[axis];
    return result;
  }
  DEVPLACE_HD auto operator()(std::size_t i) const { return of_result(i / sizes[Rank - 1])(i); }
  /// Number of lines from a line on that follow each other in memory, so that of_result() of the first one has them
  /// all.
  std::size_t joined_results([[maybe_unused]] std::size_t number) const {
    if constexpr (Rank != 1 && !indexed) {
      const auto are_joined = [this]<std::size_t... I>(std::index_sequence<I...>) {
        return ((packed_at<I>(cells).strides[Rank - 2] == static_cast<std::ptrdiff_t>(sizes[Rank - 1])) && ...);
      };
      if (are_joined(fields{})) return sizes[Rank - 2] - number % sizes[Rank - 2];
    }
    return 1;
  }
};

/// A sum of numbers as an integer of 128 bits in two's complement. The unit is 2^-88 of a power of two above all
/// numbers, so up to 2^38 numbers can be added, in any order.
struct exact_digits {
  static constexpr double high_unit = 0x1p-24, radix = 0x1p32;
  std::int64_t high;
  std::uint64_t low;

  /// A number between -1 and 1, rounded towards 0 to a multiple of 2^-88. Computed from the magnitude, whose parts are
  /// exact: the difference between a negative number and the multiple of `high_unit` below it would be rounded.
  DEVPLACE_HD static exact_digits of(double x) {
    const double scaled = (x < 0 ? -x : x) / high_unit, high = std::floor(scaled);
    const double rest = (scaled - high) * radix, middle = std::floor(rest);
    const exact_digits magnitude{
        static_cast<std::int64_t>(high),
        (static_cast<std::uint64_t>(middle) << 32) + static_cast<std::uint64_t>((rest - middle) * radix)};
    return x < 0 ? magnitude.negative() : magnitude;
  }
  DEVPLACE_HD constexpr exact_digits negative() const { return {-high - (low != 0 ? 1 : 0), 0 - low}; }
  DEVPLACE_HD constexpr void add(const exact_digits& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
  }
  /// The sum as a number. Negative ones are negated first, because their parts would cancel.
  double value() const {
    const exact_digits positive = high < 0 ? negative() : *this;
    const double magnitude =
        (static_cast<double>(positive.high) + static_cast<double>(positive.low) * 0x1p-64) * high_unit;
    return high < 0 ? -magnitude : magnitude;
  }
};

/// Adds exact_digits.
struct exact_reducer {
  using accumulator = exact_digits;
  exact_digits* result;

  DEVPLACE_HD static constexpr accumulator identity() { return {0, 0}; }
  DEVPLACE_HD static constexpr void add(accumulator& a, const exact_digits& x, std::size_t) { a.add(x); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, const accumulator& b) { a.add(b); }
  DEVPLACE_HD void store(std::size_t output, const accumulator& a) const { result[output] = a; }
};

/// The magnitude of a functor's value, and its exact_digits.
///@{
template <class F> struct magnitude_of {
  F f;
  DEVPLACE_HD_CALLS_ANY
  template <class... X>
    requires std::is_invocable_v<const F&, const X&...>
  DEVPLACE_HD double operator()(const X&... x) const {
    const auto value = static_cast<double>(f(x...));
    return value < 0 ? -value : value;
  }
};
template <class F> struct digits_of {
  F f;
  double inverse;  ///< of a power of two above all magnitudes
  DEVPLACE_HD_CALLS_ANY
  template <class... X>
    requires std::is_invocable_v<const F&, const X&...>
  DEVPLACE_HD exact_digits operator()(const X&... x) const {
    return exact_digits::of(static_cast<double>(f(x...)) * inverse);
  }
};
///@}

}  // namespace devplace::parallel::detail
