// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/config.hpp>

// The form in which an expression is evaluated: a trivially copyable tree of pointers, numbers and functors. Its type
// depends only on element types, functors and integers, so that one kernel serves all places and extents.
namespace devplace::detail {

/// The index of an element along each axis.
template <std::size_t Rank> struct position {
  std::size_t index[Rank];

  /// Distance in elements from the first element.
  DEVPLACE_HD constexpr std::ptrdiff_t offset(const std::ptrdiff_t* strides) const {
    std::ptrdiff_t result = 0;
    for (std::size_t axis = 0; axis < Rank; ++axis) result += static_cast<std::ptrdiff_t>(index[axis]) * strides[axis];
    return result;
  }
};

template <class T> struct scalar_leaf {
  T value;

  template <class Position> DEVPLACE_HD constexpr T at(const Position&) const { return value; }
};

/// A tensor of one element.
template <class T> struct single_leaf {
  const T* data;

  template <class Position> DEVPLACE_HD constexpr T at(const Position&) const { return *data; }
};

/// A tensor with elements in the result's order.
template <class T> struct linear_leaf {
  const T* data;

  DEVPLACE_HD constexpr T at(std::size_t i) const { return data[i]; }
};

/// A tensor with a stride for each axis of the result, 0 where it is broadcast.
template <class T, std::size_t Rank> struct strided_leaf {
  const T* data;
  std::ptrdiff_t strides[Rank];

  DEVPLACE_HD constexpr T at(const position<Rank>& p) const { return data[p.offset(strides)]; }
};

template <class Tree> inline constexpr bool is_strided_leaf = false;
template <class T, std::size_t Rank> inline constexpr bool is_strided_leaf<strided_leaf<T, Rank>> = true;

template <std::size_t I, class Child> struct branch {
  Child child;
};

template <class F, class Indices, class... Children> struct node;

template <class F, std::size_t... I, class... Children>
struct node<F, std::index_sequence<I...>, Children...> : branch<I, Children>... {
  F function;

  template <class Position> [[gnu::always_inline]] DEVPLACE_HD constexpr auto at(const Position& p) const {
    return function(static_cast<const branch<I, Children>&>(*this).child.at(p)...);
  }
};

template <class Tree> inline constexpr std::size_t strided_leaves = is_strided_leaf<Tree> ? 1 : 0;
template <class F, class Indices, class... Children>
inline constexpr std::size_t strided_leaves<node<F, Indices, Children...>> =
    (std::size_t{0} + ... + strided_leaves<Children>);

/// Whether a tree has a function, such as exp, that takes much longer than loading and storing an element.
template <class Tree> inline constexpr bool computes_much = false;
template <class F, class Indices, class... Children>
inline constexpr bool computes_much<node<F, Indices, Children...>> =
    requires { F::computes_much; } || (computes_much<Children> || ...);

/// Whether a tree has a functor other than those for which is_elementary is found (ops/detail/elementary.hpp).
template <class Tree> inline constexpr bool has_users_functor = false;
template <class F, class Indices, class... Children>
inline constexpr bool has_users_functor<node<F, Indices, Children...>> =
    !requires(const F& f) { is_elementary(f); } || (has_users_functor<Children> || ...);

/// Whether the loop of a tree is also compiled for AVX-512 (backend/cpu/detail/vector_loops.hpp).
template <class Tree>
inline constexpr bool deserves_avx512 = computes_much<Tree> && !(avx512_by_clang && has_users_functor<Tree>);

/// The tree with every leaf replaced by `change(leaf)`.
DEVPLACE_HD_CALLS_ANY
template <class Change, class Leaf> DEVPLACE_HD constexpr auto transformed(const Change& change, const Leaf& leaf) {
  return change(leaf);
}
DEVPLACE_HD_CALLS_ANY
template <class Change, class F, std::size_t... I, class... Children>
DEVPLACE_HD constexpr auto transformed(const Change& change,
                                       const node<F, std::index_sequence<I...>, Children...>& tree) {
  using result = node<F, std::index_sequence<I...>,
                      decltype(transformed(change, static_cast<const branch<I, Children>&>(tree).child))...>;
  return result{{transformed(change, static_cast<const branch<I, Children>&>(tree).child)}..., tree.function};
}

/// Whether a tree has an operand that is a whole tensor.
template <class Tree> inline constexpr bool reads_memory = false;
template <class T> inline constexpr bool reads_memory<linear_leaf<T>> = true;
template <class F, class Indices, class... Children>
inline constexpr bool reads_memory<node<F, Indices, Children...>> = (reads_memory<Children> || ...);

/// Whether a tree reads the elements at an address as one of its operands.
constexpr bool is_leaf(const void*, const auto&) { return false; }
template <class T> constexpr bool is_leaf(const void* data, const linear_leaf<T>& leaf) { return leaf.data == data; }
template <class F, std::size_t... I, class... Children>
constexpr bool is_leaf(const void* data, const node<F, std::index_sequence<I...>, Children...>& tree) {
  return (is_leaf(data, static_cast<const branch<I, Children>&>(tree).child) || ...);
}

/// Loads tensors of one element in advance, so that a loop over elements keeps them in registers.
struct load_singles {
  template <class Leaf> constexpr Leaf operator()(const Leaf& leaf) const { return leaf; }
  template <class T> constexpr scalar_leaf<T> operator()(const single_leaf<T>& leaf) const { return {*leaf.data}; }
};

/// Replaces leaves for the elements from `begin` on.
struct leaf_from : load_singles {
  using load_singles::operator();

  std::size_t begin;

  template <class T> linear_leaf<T> operator()(const linear_leaf<T>& leaf) const { return {leaf.data + begin}; }
};

}  // namespace devplace::detail
