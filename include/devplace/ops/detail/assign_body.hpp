// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/square_roots.hpp>
#include <devplace/ops/detail/tree.hpp>

namespace devplace::detail {

namespace elementary {
struct square_root;  // ops/detail/elementary.hpp
}

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

/// The same for square roots: of a block at a time, which is in the cache when they are taken.
template <class T, class Operand>
  requires(std::is_floating_point_v<T>&&
               std::is_same_v<T, std::remove_cvref_t<decltype(std::declval<Operand>().at(std::size_t{}))>>)
[[gnu::always_inline]] inline void assign_row(
    T* destination, const node<elementary::square_root, std::index_sequence<0>, Operand>& tree, std::size_t begin,
    std::size_t end, std::integral_constant<std::size_t, 1> stride = {}) {
  constexpr std::size_t most = 1024;
  for (std::size_t first = begin; first < end; first += most) {
    const std::size_t last = end - first < most ? end : first + most;
    assign_row(destination, static_cast<const branch<0, Operand>&>(tree).child, first, last, stride);
    take_square_roots(destination + first, last - first);
  }
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

/// Copies [rows, columns] elements between arrays of any strides, several rows at a time: where the source's
/// neighbouring elements are in one column, each of its cache lines is then used before it is evicted.
template <class T, class Stride>
void copy_rows(T* to, std::size_t row_stride, Stride stride, const T* from, const std::size_t* strides,
               std::size_t rows, std::size_t columns) {
  constexpr std::size_t at_once = 8;
  const auto part = [&](std::size_t begin, auto count) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t k = begin; k < begin + count; ++k)
        to[row * row_stride + k * stride] = from[row * strides[0] + k * strides[1]];
  };
  std::size_t column = 0;
  for (; column + at_once <= columns; column += at_once)
    part(column, std::integral_constant<std::size_t, at_once>{});
  if (column < columns) part(column, columns - column);
}

/// The element addresses of a row-major destination.
template <class T, std::size_t Rank>
struct row_major_target {
  T* data;

  DEVPLACE_HD T* at(std::size_t i, const position<Rank>&) const { return data + i; }
  static std::size_t stride_between_rows(const std::size_t* extents) { return extents[Rank - 1]; }
  static constexpr std::integral_constant<std::size_t, 1> row_stride() { return {}; }
};

/// The same for a destination with strides.
template <class T, std::size_t Rank>
struct strided_target {
  T* data;
  std::size_t strides[Rank];

  DEVPLACE_HD T* at(std::size_t, const position<Rank>& p) const { return data + p.offset(strides); }
  std::size_t stride_between_rows(const std::size_t*) const { return strides[Rank - 2]; }
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
      if constexpr (Rank >= 2 && is_strided_leaf<Tree>) {
        const std::size_t rows = linear_rows ? 0 : rows_at_once(start, end - begin);
        if (rows > 1) {
          copy_rows(destination.at(begin, start), destination.stride_between_rows(extents), destination.row_stride(),
                    tree.data + start.offset(tree.strides), tree.strides + (Rank - 2), rows, extents[Rank - 1]);
          begin += rows * extents[Rank - 1];
          continue;
        }
      }
      if (linear_rows)
        assign_row(destination.at(begin, start), transformed(row_at<Rank, true>(start), tree), 0, count);
      else
        assign_row(destination.at(begin, start), transformed(row_at<Rank, false>(start), tree), 0, count,
                   destination.row_stride());
      begin += count;
    }
  }

 private:
  /// The number of whole rows of `count` elements that copy_rows takes from a position on.
  std::size_t rows_at_once(const position<Rank>& start, std::size_t count) const {
    constexpr std::size_t most = 64;
    const std::size_t whole = start.index[Rank - 1] == 0 ? count / extents[Rank - 1] : 0;
    const std::size_t rest = extents[Rank - 2] - start.index[Rank - 2];
    const std::size_t rows = whole < rest ? whole : rest;
    return rows < most ? rows : most;
  }
};

}  // namespace devplace::detail
