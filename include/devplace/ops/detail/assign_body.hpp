// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/tree.hpp>

namespace devplace::detail {

/// Number of elements that justify a thread: a few microseconds of work.
inline constexpr std::size_t elementwise_grain = 16384;

/// Writes tree elements begin..end-1, `stride` elements apart. Each destination element depends only on operand
/// elements with the same index, also in place.
template <class T, class Tree, class Stride = std::integral_constant<std::size_t, 1>>
[[gnu::always_inline]] inline void assign_row(T* destination, const Tree& tree, std::size_t begin, std::size_t end,
                                              Stride stride = {}) {
  // Always inlined: g++ vectorises no loop with a call, and does not inline long expressions otherwise.
  independent_loop(
      begin, end, [&](std::size_t i) __attribute__((always_inline)) { destination[i * stride] = tree.at(i); });
}

/// Index functor without broadcasting, except of tensors with one element.
template <class T, class Tree>
struct assign_linear {
  static constexpr bool computes_much = detail::computes_much<Tree>;
  T* destination;
  Tree tree;

  DEVPLACE_HD void operator()(std::size_t i) const { destination[i] = tree.at(i); }

  void range(std::size_t begin, std::size_t end) const {
    assign_row(destination, transformed(load_singles{}, tree), begin, end);
  }
};

/// The element addresses of a row-major destination.
template <class T, std::size_t Rank>
struct row_major_target {
  T* data;

  DEVPLACE_HD T* at(std::size_t i, const position<Rank>&) const { return data + i; }
  static constexpr std::integral_constant<std::size_t, 1> row_stride() { return {}; }
};

/// The same for a destination with strides.
template <class T, std::size_t Rank>
struct strided_target {
  T* data;
  std::size_t strides[Rank];

  DEVPLACE_HD T* at(std::size_t, const position<Rank>& p) const { return data + p.offset(strides); }
  std::size_t row_stride() const { return strides[Rank - 1]; }
};

/// Index functor for operands, or a destination, with strides along some axes; 0 along broadcast ones.
template <class Target, class Tree, std::size_t Rank>
struct assign_strided {
  static constexpr bool computes_much = detail::computes_much<Tree>;
  Target destination;
  Tree tree;
  std::size_t extents[Rank];
  bool linear_rows;

  DEVPLACE_HD constexpr position<Rank> position_of(std::size_t i) const {
    position<Rank> p{};
    for (std::size_t axis = Rank; axis-- > 0;) {
      p.index[axis] = i % extents[axis];
      i /= extents[axis];
    }
    return p;
  }

  DEVPLACE_HD void operator()(std::size_t i) const {
    const position<Rank> p = position_of(i);
    *destination.at(i, p) = tree.at(p);
  }

  void range(std::size_t begin, std::size_t end) const {
    while (begin < end) {
      const position<Rank> start = position_of(begin);
      const std::size_t rest_of_row = extents[Rank - 1] - start.index[Rank - 1];
      const std::size_t count = end - begin < rest_of_row ? end - begin : rest_of_row;
      if (linear_rows)
        assign_row(destination.at(begin, start), transformed(row_at<Rank, true>(start), tree), 0, count);
      else
        assign_row(destination.at(begin, start), transformed(row_at<Rank, false>(start), tree), 0, count,
                   destination.row_stride());
      begin += count;
    }
  }
};

}  // namespace devplace::detail
