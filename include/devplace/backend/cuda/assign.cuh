// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>
#include <utility>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/ops/detail/assign_body.hpp>

namespace devplace::detail {

// Assignments with accesses of up to 16 bytes. The formula is evaluated per element on values in registers, so results
// are bitwise equal to results of single-element accesses. If element sizes differ, as in a cast from float to bf16,
// the smallest type uses one access of 16 bytes and the others use two.

/// The element sizes of the tensors that an expression reads, as bits of a number, because sizes are powers of two.
/// Excludes numbers and tensors of one element.
template <class Tree> inline constexpr std::size_t sizes_in_tree = 0;
template <class T> inline constexpr std::size_t sizes_in_tree<linear_leaf<T>> = sizeof(T);
template <class T, std::size_t Rank> inline constexpr std::size_t sizes_in_tree<strided_leaf<T, Rank>> = sizeof(T);
template <class F, class Indices, class... Children>
inline constexpr std::size_t sizes_in_tree<node<F, Indices, Children...>> = (sizes_in_tree<Children> | ... | 0);

/// Number of elements that a thread assigns together, if the destination's elements have `size` bytes.
template <class Tree> constexpr unsigned width_of_assignment(std::size_t size) {
  const std::size_t sizes = size | sizes_in_tree<Tree>;
  return width_of_sizes(std::size_t{1} << std::countr_zero(sizes), std::bit_floor(sizes));
}

/// N adjacent elements of a tensor, in registers.
template <class T, unsigned N> struct several_leaf {
  pack<T, N> elements;

  DEVPLACE_HD constexpr T at(unsigned k) const { return elements.value[k]; }
};

/// Reads leaves for N adjacent elements of a row. `Start` is the type of the first element's index or position.
template <unsigned N, class Thread, class Start> struct read_several {
  const Thread& thread;
  const Start& start;

  template <class Leaf> DEVPLACE_DEVICE Leaf operator()(const Leaf& leaf) const { return leaf; }
  template <class T> DEVPLACE_DEVICE scalar_leaf<T> operator()(const single_leaf<T>& leaf) const {
    return {*leaf.data};
  }
  template <class T> DEVPLACE_DEVICE several_leaf<T, N> operator()(const linear_leaf<T>& leaf) const {
    return {thread.template load<T, N>(leaf.data + start)};
  }
  template <class T, std::size_t Rank>
  DEVPLACE_DEVICE several_leaf<T, N> operator()(const strided_leaf<T, Rank>& leaf) const {
    const T* const from = leaf.data + start.offset(leaf.strides);
    if (leaf.strides[Rank - 1] != 0) return {thread.template load<T, N>(from)};
    return {pack_of<T, N>([element = *from](unsigned) { return element; })};
  }
};

/// Whether packs of N elements can read every tensor in the tree and write the destination.
template <unsigned N> struct wide_leaves {
  template <class Leaf> static bool in(const Leaf&) { return true; }
  template <class T> static bool in(const linear_leaf<T>& leaf) { return is_aligned<N>(leaf.data); }
  template <class T, std::size_t Rank> static bool in(const strided_leaf<T, Rank>& leaf) {
    return leaf.strides[Rank - 1] == 0 || has_wide_rows<Rank>(leaf.data, leaf.strides);
  }
  template <class T, std::size_t Rank> static bool in(const row_major_target<T, Rank>& target) {
    return is_aligned<N>(target.data);
  }
  template <class T, std::size_t Rank> static bool in(const strided_target<T, Rank>& target) {
    return has_wide_rows<Rank>(target.data, target.strides);
  }
  template <class F, std::size_t... I, class... Children>
  static bool in(const node<F, std::index_sequence<I...>, Children...>& tree) {
    return (in(static_cast<const branch<I, Children>&>(tree).child) && ...);
  }

 private:
  template <std::size_t Rank, class T> static bool has_wide_rows(const T* data, const std::ptrdiff_t* strides) {
    bool wide = strides[Rank - 1] == 1 && is_aligned<N>(data);
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) wide = wide && strides[axis] % std::ptrdiff_t{N} == 0;
    return wide;
  }
};

template <unsigned N, class Thread, class T, class Tree>
DEVPLACE_DEVICE void store_several(const Thread& t, T* to, const Tree& tree) {
  t.store(to, pack_of<T, N>([&tree](unsigned k) { return tree.at(k); }));
}

template <class T, class Tree> struct wide_form<assign_linear<T, Tree>> {
  static constexpr unsigned width = width_of_assignment<Tree>(sizeof(T));
  assign_linear<T, Tree> f;

  bool is_wide() const { return is_aligned<width>(f.destination) && wide_leaves<width>::in(f.tree); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    store_several<width>(t, f.destination + i, transformed(read_several<width, Thread, std::size_t>{t, i}, f.tree));
  }
};

template <class Target, class Tree, std::size_t Rank> struct wide_form<assign_strided<Target, Tree, Rank>> {
  static constexpr unsigned width = width_of_assignment<Tree>(sizeof(*Target{}.data));
  assign_strided<Target, Tree, Rank> f;

  bool is_wide() const {
    return f.extents[Rank - 1] % width == 0 && wide_leaves<width>::in(f.destination) && wide_leaves<width>::in(f.tree);
  }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    const position<Rank> start = f.position_of(i);
    const read_several<width, Thread, position<Rank>> read{t, start};
    store_several<width>(t, f.destination.at(i, start), transformed(read, f.tree));
  }
};

}  // namespace devplace::detail
