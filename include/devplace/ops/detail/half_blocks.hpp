// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/backend/cpu/convert_elements.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/tree.hpp>
#include <devplace/tensor/dtype.hpp>

// Functions of halves on the CPU: the operands of a block are converted to float by the processor's instructions, which
// compilers do not use in loops, and the results are rounded likewise. The bits are those of the functions' own
// conversions.
namespace devplace::detail {

template <class Tree>
using element_of_tree = std::remove_cvref_t<decltype(std::declval<const Tree&>().at(std::size_t{}))>;

/// A function that reads halves as floats, or whose float result is rounded to half. `type` is the function without
/// conversions; void for other functions.
template <class Tree> struct function_of_halves : std::type_identity<void> {};
template <class F, class Indices, class... Children>
struct function_of_halves<node<elementary::in_float<F, half>, Indices, Children...>> : std::type_identity<F> {};
template <class To, class Child>
  requires std::is_same_v<element_of_tree<Child>, half>
struct function_of_halves<node<elementary::convert<To>, std::index_sequence<0>, Child>>
    : std::type_identity<elementary::convert<To>> {};
template <class Child>
  requires std::is_same_v<element_of_tree<Child>, float>
struct function_of_halves<node<elementary::convert<half>, std::index_sequence<0>, Child>>
    : std::type_identity<elementary::convert<float>> {};

template <class Tree>
concept computes_with_halves = !std::is_void_v<typename function_of_halves<Tree>::type>;

/// The number of buffers for a tree's halves. Every result takes the place of its first operand.
template <class Tree> inline constexpr std::size_t buffers_of_halves = std::is_same_v<Tree, linear_leaf<half>> ? 1 : 0;
template <class F, class Indices, class... Children>
inline constexpr std::size_t buffers_of_halves<node<F, Indices, Children...>> =
    (buffers_of_halves<Children> + ...) == 0 ? 1 : (buffers_of_halves<Children> + ...);

/// Replaces leaves and functions of halves by floats for a block of `count` elements.
struct block_of_halves : leaf_from {
  static constexpr std::size_t most = 512;
  std::size_t count;
  float (*floats)[most];  ///< the next unused buffer

  using leaf_from::operator();
  scalar_leaf<float> operator()(const scalar_leaf<half>& leaf) const { return {leaf.value}; }
  linear_leaf<float> operator()(const linear_leaf<half>& leaf) {
    convert_elements(*floats, leaf.data + begin, count);
    return {*floats++};
  }
  template <class F, class Indices, class... Children>
  [[gnu::always_inline]] auto operator()(const node<F, Indices, Children...>& tree) {
    if constexpr (!std::is_same_v<element_of_tree<node<F, Indices, Children...>>, half>) {
      if constexpr (computes_with_halves<node<F, Indices, Children...>>)
        return with_floats(tree);
      else
        return transformed(static_cast<const leaf_from&>(*this), tree);
    } else {
      half rounded[most];
      auto* const buffer = floats;
      if constexpr (computes_with_halves<node<F, Indices, Children...>>) {
        assign_row(*buffer, with_floats(tree), 0, count);
        convert_elements(rounded, *buffer, count);
      } else {
        assign_row(rounded, transformed(static_cast<const leaf_from&>(*this), tree), 0, count);
      }
      convert_elements(*buffer, rounded, count);
      floats = buffer + 1;
      return linear_leaf<float>{*buffer};
    }
  }

  /// The function of `tree` without conversions, on floats.
  template <class F, std::size_t... I, class... Children>
  [[gnu::always_inline]] auto with_floats(const node<F, std::index_sequence<I...>, Children...>& tree) {
    using function = typename function_of_halves<node<F, std::index_sequence<I...>, Children...>>::type;
    return node<function, std::index_sequence<I...>,
                decltype((*this)(static_cast<const branch<I, Children>&>(tree).child))...>{
        {(*this)(static_cast<const branch<I, Children>&>(tree).child)}..., function{}};
  }
};

template <bool Alternating = false, class T, computes_with_halves Tree>
[[gnu::always_inline]] inline void assign_row(T* destination, const Tree& tree, std::size_t begin, std::size_t end) {
  constexpr std::size_t most = block_of_halves::most;
  float floats[buffers_of_halves<Tree>][most];
  for (std::size_t first = begin; first < end; first += most) {
    const std::size_t count = end - first < most ? end - first : most;
    block_of_halves block{{{}, first}, count, floats};
    if constexpr (std::is_same_v<T, half>) {
      assign_row<Alternating>(*floats, block.with_floats(tree), 0, count);
      convert_elements(destination + first, *floats, count);
    } else {
      assign_row<Alternating>(destination + first, block.with_floats(tree), 0, count);
    }
  }
}

/// Conversions alone.
template <bool = false, class T, class From>
  requires((storage_element<T> && std::is_same_v<From, float>) || (storage_element<From> && std::is_same_v<T, float>))
[[gnu::always_inline]] inline void assign_row(
    T* destination, const node<elementary::convert<T>, std::index_sequence<0>, linear_leaf<From>>& tree,
    std::size_t begin, std::size_t end) {
  convert_elements(destination + begin, static_cast<const branch<0, linear_leaf<From>>&>(tree).child.data + begin,
                   end - begin);
}

}  // namespace devplace::detail
