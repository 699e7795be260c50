// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/place/axis.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace {

/// Appears in the compiler's message when the host accesses an element that it cannot reach.
struct COPY_IT_FIRST_WITH_to_on_cpu;
/// Appears in the compiler's message when an array of one element is converted to a number.
struct USE_item_OF_ONE_ELEMENT_OR_x_i_j_OR_cast;

}  // namespace devplace

namespace devplace::detail {

/// Whether these name an element of an array: an integer for each axis.
template <std::size_t Rank, class... Index>
inline constexpr bool is_index_list = sizeof...(Index) == Rank && (std::is_integral_v<Index> && ...);

/// Converts integers to indices; other arguments are returned unchanged.
template <class X>
constexpr auto as_index(const X& x) {
  if constexpr (std::is_integral_v<X>)
    return static_cast<std::size_t>(x);
  else
    return x;
}

/// Whether these name every axis of an array once.
template <std::size_t Rank, std::size_t... Axis>
inline constexpr bool is_order_of_axes = sizeof...(Axis) == Rank && ((Axis < Rank) && ...) && all_different<Axis...>();

/// Whether an array may have as many elements as one of other extents.
template <class Extents, class Other>
inline constexpr bool may_be_reshaped = !Extents::is_static || !Other::is_static || Extents{}.size() == Other{}.size();

/// The arguments by which a part of an array, or another order or shape, is named; for constraints only.
template <class Extents>
struct parts {
  static constexpr std::size_t rank = Extents::rank;
  template <std::size_t N>
    requires(N < rank)
  static void select(axis<N>, std::size_t index);
  template <std::size_t N>
    requires(N < rank)
  static void slice(axis<N>, std::size_t first, std::size_t last, std::size_t step = 1);
  static void slice(std::size_t first, std::size_t last);
  template <std::size_t... N>
    requires(is_order_of_axes<rank, N...>)
  static void permute(axis<N>...);
  template <extents_like Other>
    requires(Other::rank >= rank)
  static void broadcast_to(const Other&);
  template <extents_like Other>
    requires(may_be_reshaped<Extents, Other>)
  static void reshape(const Other&);
};

/// Members of tensors and views that answer by a sentence: other arguments than the members of these names take, and
/// names of other libraries. The fix is the name of the template parameter, which compilers print that do not print the
/// sentence.
template <std::size_t Rank, bool Reachable>
struct refused_uses {
  // Deleted, as clang does not look for the sentence where it converts. Arrays are not numbers in overload resolution.
  template <class Number, class FIX = USE_item_OF_ONE_ELEMENT_OR_x_i_j_OR_cast>
    requires std::is_arithmetic_v<Number>
  explicit(Rank != 0) operator Number() const = delete;
  template <class FIX = COPY_IT_FIRST_WITH_to_on_cpu, class... Index>
    requires(!Reachable && is_index_list<Rank, Index...>)
  refusal operator()(Index...) const
      DEVPLACE_REFUSED("the host does not reach these elements; copy them first, with to<cpu>(x), or item(x) of one.");
  // This and permute not of a scalar, whose x() has no arguments: this overload would be as good.
  template <class... GIVE_ONE_INTEGER_FOR_EACH_AXIS>
    requires(Rank != 0)
  refusal operator()(...) const DEVPLACE_REFUSED(
      "an element is named by one integer for each axis, x(i, j) of a matrix, of which x[i] is a row.");
  template <class... NAME_AN_AXIS_OF_THE_ARRAY_AS_axis_N_THEN_AN_INDEX>
  refusal select(...) const
      DEVPLACE_REFUSED("select(axis<1>{}, index): the first argument is an axis, axis<0>{} to axis<rank - 1>{}.");
  template <class... NAME_AN_AXIS_OF_THE_ARRAY_AS_axis_N_THEN_INDICES>
  refusal slice(...) const DEVPLACE_REFUSED(
      "slice(axis<1>{}, first, last, step), or slice(first, last) of the first axis: the axis is one of "
      "axis<0>{} to axis<rank - 1>{}, then come numbers.");
  template <class... NAME_EVERY_AXIS_ONCE_AS_axis_N>
    requires(Rank != 0)
  refusal permute(...)
  const DEVPLACE_REFUSED("permute(axis<1>{}, axis<0>{}): name every axis once, from axis<0>{} to axis<rank - 1>{}.");
  template <class... GIVE_THE_SHAPE_AS_extents_OF_AT_LEAST_AS_MANY_AXES>
  refusal broadcast_to(...) const
      DEVPLACE_REFUSED("broadcast_to(extents<2, 3>{}): the shape is given as extents, with at least the array's axes.");
  template <class... GIVE_extents_OF_AS_MANY_ELEMENTS>
  refusal reshape(...) const
      DEVPLACE_REFUSED("reshape(extents<3, 2>{}) or reshape(extents(n, 2)): give extents of as many elements.");
  template <class... USE_extents>
  refusal shape(...) const DEVPLACE_REFUSED("x.extents() is the shape, x.extent(k) the size of axis k.");
  template <class... WRITE_sum_OF_x>
  refusal sum(...) const DEVPLACE_REFUSED(
      "sums are sum(x), and sum(x, axis<0>{}) along an axis; so are mean, max, min, argmax and argmin.");
  template <class... USE_to_cuda_0_OF_x>
  refusal cuda(...) const DEVPLACE_REFUSED("to<cuda<0>>(x), or x.to<cuda<0>>(), makes a tensor on that device.");
  template <class... USE_to_shared_memory_OF_x>
  refusal share_memory_(...) const DEVPLACE_REFUSED(
      "to<shared_memory>(x), of <devplace/shared_memory.hpp>, makes a tensor in memory that other processes have.");
  template <class... USE_transposed_OF_x>
  refusal T(...) const
      DEVPLACE_REFUSED("transposed(x) is the transpose; x.permute(axis<1>{}, axis<0>{}) is of any rank.");
  template <class... USE_fill_OF_x_AND_A_VALUE>
  refusal fill_(...) const DEVPLACE_REFUSED("fill(x, value), or x = value, sets all elements.");
  // No `end`, so that loops find the functions of rows.hpp.
  template <class... USE_fill_OR_data_OR_A_LOOP_OVER_ROWS>
  refusal begin(...) const DEVPLACE_REFUSED(
      "algorithms take pointers, x.data() and x.data() + x.size(); fill(x, value) sets all elements, and "
      "for (auto row : x) is a loop over rows.");
};

}  // namespace devplace::detail
