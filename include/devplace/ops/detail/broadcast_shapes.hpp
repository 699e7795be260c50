// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/detail/view_errors.hpp>
#include <devplace/tensor/extents.hpp>

/// Asserted in the bodies of operators, so that the compiler shows the user's line next to the message.
#define DEVPLACE_DETAIL_OTHER_EXTENTS                                                                  \
  "devplace: elementwise: the static extents of the operands differ in an axis in which neither is 1 " \
  "(aligned at the last axis); reshape one of them, or slice both to the same size."
#define DEVPLACE_DETAIL_DIFFERENCE_OF_RANKS                                                                     \
  "devplace: a difference of operands with different numbers of axes would repeat both: [4, 1] - [4] would be " \
  "[4, 4]; reshape one of them to the extents of the other or, if all pairs are meant, to [1, 4]."

namespace devplace::detail {

// numpy's broadcasting: extents are aligned at the last axis; a missing axis, or one of extent 1, is repeated.

/// Maximum rank of elementwise operations.
inline constexpr std::size_t max_rank = 8;

/// Extent of a result's axis for two static extents. If these cannot be broadcast, `fits` is false and the extent is 0.
struct broadcast_axis {
  std::size_t extent;
  bool fits;
};

constexpr broadcast_axis broadcast_static(std::size_t a, std::size_t b) {
  if (a == 1) return {b, true};
  if (b == 1) return {a, true};
  if (a == dyn) return {b, true};  // a must be 1 or b, checked at run time
  if (b == dyn) return {a, true};
  return {a, a == b};
}

/// The static extent of axis `axis` after prepending axes of extent 1, up to `rank` axes.
template <class Extents> constexpr std::size_t aligned_static_extent(std::size_t axis, std::size_t rank) {
  return axis + Extents::rank < rank ? 1 : Extents::static_extent(axis + Extents::rank - rank);
}

template <class A, class B, class Axes = std::make_index_sequence<(A::rank > B::rank ? A::rank : B::rank)>>
struct broadcast_pair;

template <class A, class B, std::size_t... Axis> struct broadcast_pair<A, B, std::index_sequence<Axis...>> {
  static constexpr std::size_t rank = sizeof...(Axis);
  /// Whether an axis has extent 1 in `From` and a larger static extent in `To`.
  template <class From, class To>
  static constexpr bool repeats =
      ((aligned_static_extent<From>(Axis, rank) == 1 && aligned_static_extent<To>(Axis, rank) != 1 &&
        aligned_static_extent<To>(Axis, rank) != dyn) ||
       ...);
  static constexpr bool crossed = A::rank != B::rank && repeats<A, B> && repeats<B, A>;
  static constexpr bool fits =
      (broadcast_static(aligned_static_extent<A>(Axis, rank), aligned_static_extent<B>(Axis, rank)).fits && ...);
  using type =
      extents<broadcast_static(aligned_static_extent<A>(Axis, rank), aligned_static_extent<B>(Axis, rank)).extent...>;
};

template <class Extents, class Expression> struct assigned_extents {
  using both = broadcast_pair<Extents, typename std::remove_cvref_t<Expression>::extents_type>;
  static constexpr bool fit = both::fits && compatible<Extents, typename both::type>;
};

/// Rejects static extents that cannot be broadcast; the compiler shows them as template arguments.
template <class... Extents> struct broadcast : std::type_identity<extents<>> {};
template <class Only> struct broadcast<Only> : std::type_identity<Only> {};
template <class First, class Second, class... Rest>
struct broadcast<First, Second, Rest...> : broadcast<typename broadcast_pair<First, Second>::type, Rest...> {
  static_assert(broadcast_pair<First, Second>::fits, DEVPLACE_DETAIL_OTHER_EXTENTS);
};

template <class... Extents> using broadcast_t = typename broadcast<Extents...>::type;

/// Run-time sizes, independent of the extents type.
struct shape {
  std::size_t rank = 0;
  std::size_t extents[max_rank] = {};

  /// Extent of axis `axis` after prepending axes of extent 1, up to `wanted_rank` axes.
  constexpr std::size_t aligned(std::size_t axis, std::size_t wanted_rank) const {
    return axis + rank < wanted_rank ? 1 : extents[axis + rank - wanted_rank];
  }
};

template <class Extents> constexpr shape shape_of(const Extents& e) {
  static_assert(Extents::rank <= max_rank,
                "devplace: elementwise: tensors of more than 8 axes are not supported; reshape to fewer axes first.");
  shape result{.rank = Extents::rank};
  for (std::size_t axis = 0; axis != Extents::rank; ++axis) result.extents[axis] = e.extent(axis);
  return result;
}

constexpr std::size_t size_of(const shape& s) {
  std::size_t product = 1;
  for (std::size_t axis = 0; axis != s.rank; ++axis) product *= s.extents[axis];
  return product;
}

inline std::string to_string(const shape& s) { return sizes_text(std::span<const std::size_t>(s.extents, s.rank)); }

/// The shape of an elementwise result; throws shape_error if two extents differ and neither is 1.
constexpr shape broadcast_shapes(const shape& a, const shape& b, const char* operation = "elementwise: ") {
  shape result{.rank = a.rank > b.rank ? a.rank : b.rank};
  for (std::size_t axis = 0; axis < result.rank; ++axis) {
    const std::size_t from_a = a.aligned(axis, result.rank), from_b = b.aligned(axis, result.rank);
    if (from_a != from_b && from_a != 1 && from_b != 1)
      throw shape_error({operation, "operands of ", to_string(a), " and ", to_string(b),
                         " cannot be broadcast: aligned at the last axis, extents must be equal or one of them 1."});
    result.extents[axis] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

/// Throws shape_error for the difference of arrays of different ranks if broadcasting would repeat both. For residuals
/// of [n, 1] and [n], for example, n x n differences are hardly intended.
inline void require_difference(const shape& a, const shape& b) {
  const shape both = broadcast_shapes(a, b);
  const bool repeated_a = size_of(both) != size_of(a), repeated_b = size_of(both) != size_of(b);
  if (a.rank != b.rank && repeated_a && repeated_b)
    throw shape_error(
        {"a difference of ", to_string(a), " and ", to_string(b),
         ", which have different numbers of axes, would repeat both to ", to_string(both),
         "; reshape one of them to the extents of the other or, if all pairs are meant, to the same number of axes."});
}

/// Throws shape_error unless an expression of the second shape can be assigned to a destination of the first.
DEVPLACE_COMPILABLE() void require_broadcast_to(const shape& destination, const shape& expression) {
  const shape both = broadcast_shapes(destination, expression);
  for (std::size_t axis = 0; axis < both.rank; ++axis)
    if (both.extents[axis] != destination.aligned(axis, both.rank))
      throw shape_error({"assign: an expression of ", to_string(expression),
                         " cannot be broadcast to a destination of ", to_string(destination), "."});
}
DEVPLACE_COMPILED(void require_broadcast_to(const shape&, const shape&))

/// Converts a shape to an extents type whose static extents agree with it.
template <class Extents> constexpr Extents extents_from([[maybe_unused]] const shape& s) {
  if constexpr (Extents::is_static) {
    return Extents{};
  } else {
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return Extents(s.extents[Axis]...);
    }(std::make_index_sequence<Extents::rank>{});
  }
}

/// The extents of an elementwise result; throws shape_error if run-time extents cannot be broadcast.
template <class Result, class... Extents> constexpr Result broadcast_extents(const Extents&... e) {
  shape all;
  ((all = broadcast_shapes(all, shape_of(e))), ...);
  return extents_from<Result>(all);
}

}  // namespace devplace::detail
