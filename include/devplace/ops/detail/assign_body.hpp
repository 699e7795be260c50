// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/tree.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, n, body)`: n elements of an assignment, by one of the bodies below.
struct assign {};

}  // namespace op

namespace detail {

/// Elements that are worth a thread of their own: some microseconds of work.
inline constexpr std::size_t elementwise_grain = 16384;

DEVPLACE_ANY_LOOP_BODY_BEGIN
/// Writes tree elements begin..end-1 one after the other. Each destination element depends on operand elements of the
/// same index only, hence the pragma, which lets the compiler form vectors in place too.
template <class T, class Tree>
DEVPLACE_KEPT_WHOLE inline void assign_row(T* destination, const Tree& tree, std::size_t begin, std::size_t end) {
  DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN
  for (std::size_t i = begin; i < end; ++i)
    destination[i] = tree.at(i);
  DEVPLACE_INDEPENDENT_ITERATIONS_END
}
DEVPLACE_ANY_LOOP_BODY_END

/// Index functor: no operand is repeated except tensors of one element.
template <class T, class Tree>
struct assign_linear {
  T* destination;
  Tree tree;

  DEVPLACE_HD void operator()(std::size_t i) const { destination[i] = tree.at(i); }

  void range(std::size_t begin, std::size_t end) const {
    assign_row(destination, transformed(load_singles{}, tree), begin, end);
  }
};

/// Index functor: operands are repeated along some axes.
template <class T, class Tree, std::size_t Rank>
struct assign_strided {
  T* destination;
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

  DEVPLACE_HD void operator()(std::size_t i) const { destination[i] = tree.at(position_of(i)); }

  void range(std::size_t begin, std::size_t end) const {
    while (begin < end) {
      const position<Rank> start = position_of(begin);
      const std::size_t rest_of_row = extents[Rank - 1] - start.index[Rank - 1];
      const std::size_t count = end - begin < rest_of_row ? end - begin : rest_of_row;
      if (linear_rows)
        assign_row(destination + begin, transformed(linear_row_at<Rank>(start), tree), 0, count);
      else
        assign_row(destination + begin, transformed(row_at<Rank>(start), tree), 0, count);
      begin += count;
    }
  }
};

}  // namespace detail
}  // namespace devplace
