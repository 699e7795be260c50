// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/distributed.hpp>

// Reductions into the elements of a view, on one place or on each of several places.
namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the elements of a view in row-major order after its axes that are true in `reduced` are moved to the end.
template <class X> auto packed_with_reduced_last(const X& x, const std::array<bool, X::rank>& reduced) {
  shape order;
  std::array<std::ptrdiff_t, X::rank> strides{};
  for (const bool is_reduced : {false, true})
    for (std::size_t axis = 0; axis != X::rank; ++axis)
      if (reduced[axis] == is_reduced)
        strides[order.rank] = x.stride(axis), order.extents[order.rank++] = x.extent(axis);
  using all = dextents<X::rank>;
  const view<const typename X::value_type, all, typename X::placement_type, strided> permuted(
      raw_data(x), extents_from<all>(order), strides, x.device());
  return packed(permuted);
}

/// Returns a reducer that stores results in the elements of `to`. `reducer` itself stores them in row-major order.
template <class To, class Reducer> auto stored_in([[maybe_unused]] const To& to, const Reducer& reducer) {
  if constexpr (To::is_row_major) {
    return reducer;
  } else {
    strided_reducer<Reducer, To::rank> strided{reducer, {}, {}};
    for (std::size_t axis = 0; axis < To::rank; ++axis)
      strided.extents[axis] = to.extent(axis), strided.strides[axis] = to.stride(axis);
    return strided;
  }
}

/// Reduces a view on one place to the elements of another, along the axes that are true in `reduced`. `MayBeScattered`:
/// whether these axes may be non-adjacent. An operation with a `statistic` first computes the statistic of each
/// result's elements, and then adds a function of each element and the statistic.
template <bool MayBeScattered, class Operation, class X, class To>
void reduce_by(const Operation& operation, const X& x, const std::array<bool, X::rank>& reduced, const To& to) {
  using T = typename X::value_type;
  using backend_type = typename X::backend_type;
  reduction_extents e = reduction_extents_of(sizes_of(x.extents()), reduced);
  memory_block copy;
  const T* data = nullptr;  // row-major, outer x count x inner
  const auto take = [&](auto&& in_order) { data = raw_data(in_order.view), copy = std::move(in_order.block); };
  if (!MayBeScattered || e.one_run)
    take(packed(x));
  else if constexpr (MayBeScattered)
    take(packed_with_reduced_last(x, reduced)), e = {e.outer * e.inner, e.count, 1};
  const element_source<T> elements{data};
  if constexpr (requires { typename Operation::template statistic<T>; }) {
    using statistic = typename Operation::template statistic<T>;
    const memory_block memory =
        allocate<backend_type>(x.ordinal(), e.outer * e.inner * sizeof(statistic), memory_purpose::workspace);
    auto* const statistics = static_cast<statistic*>(memory.data());
    const auto first = Operation::template first_reducer<T>(statistics, e.count);
    reduce<backend_type>(x.ordinal(), reduction_plan{e.outer, e.count, e.inner, elements, first});
    const statistic_source<T, statistic, typename Operation::function> source{data, statistics};
    const auto second = Operation::template reducer<T>(raw_data(to), statistics, e.count);
    reduce<backend_type>(x.ordinal(), reduction_plan{e.outer, e.count, e.inner, source, second});
  } else {
    const auto reducer = stored_in(to, operation.template reducer<T>(raw_data(to), e.count));
    reduce<backend_type>(x.ordinal(), reduction_plan{e.outer, e.count, e.inner, elements, reducer});
  }
}

/// The elements of an expression whose tensors share one index.
template <class T, class Tree> struct tree_source {
  Tree tree;

  DEVPLACE_HD T operator()(std::size_t i) const { return static_cast<T>(tree.at(i)); }
};

/// Whether all tensors of an expression have the expression's elements in row-major order, and none overlaps `to`.
template <class Expression, class To> bool shares_one_index(const Expression& x, const To& to) {
  using row_major_view =
      view<typename Expression::value_type, typename Expression::extents_type, typename To::placement_type>;
  constexpr std::size_t count = tensor_count<Expression>;
  evaluation<count> plan{shape_of(x.extents()), {}};
  layout_reader reader{plan.axes, to.ordinal(), plan.layouts};
  x.visit(reader);
  plan.layouts[count] = layout_of(row_major_view(nullptr, x.extents(), to.device()), plan.axes);
  if (any_overlaps(layout_of(to, shape_of(to.extents())), plan.layouts, count)) return false;
  collapse(plan.axes, plan.layouts, count + 1);
  return plan.axes.rank <= 1 && rows_are_linear(plan.axes, plan.layouts, count + 1);
}

/// Reduces an operand on one place to the elements of a view. An expression whose tensors share one index is computed
/// while it is reduced. Other expressions are first computed in workspace. So are those with functions such as exp,
/// which vectorise better in a loop of their own.
template <class Operation, class X, class To, class... Axes>
void reduce_on_place(const Operation& operation, const X& operand, const To& to, const Axes&... axes) {
  constexpr std::size_t rank = X::rank;
  constexpr bool may_scatter = may_be_scattered<rank, Axes...>();
  const std::array<bool, rank> reduced = reduced_axes<rank>(axes...);
  if constexpr (tensor_like<X>) {
    reduce_by<may_scatter>(operation, as_any_view(operand), reduced, to);
  } else {
    using value = typename X::value_type;
    using tree = decltype(operand.tree(std::declval<make_linear_leaf&>()));
    constexpr bool in_one_pass = !computes_much<tree> && !requires { typename Operation::template statistic<value>; };
    if constexpr (in_one_pass) {
      const reduction_extents e = reduction_extents_of(sizes_of(operand.extents()), reduced);
      if (e.one_run && shares_one_index(without_lazy(operand), to)) {
        make_linear_leaf make;
        const auto reducer = stored_in(to, operation.template reducer<value>(raw_data(to), e.count));
        const tree_source<value, tree> source{operand.tree(make)};
        return reduce<typename To::backend_type>(to.ordinal(),
                                                 reduction_plan{e.outer, e.count, e.inner, source, reducer});
      }
    }
    using elements = view<value, typename X::extents_type, typename To::placement_type>;
    const auto stored = packed_beside(elements(nullptr, operand.extents(), to.device()));
    evaluate(stored.view, without_lazy(operand));
    reduce_by<may_scatter>(operation, stored.view, reduced, to);
  }
}

/// Each place reduces its local tensor. The extremum of a place without elements does not affect other places' results.
template <class Operation, class T, class E, class Where, class To, std::size_t... N>
void reduce_on_places(const Operation& operation, const tensor<T, E, Where>& x, To& to, axis<N>...) {
  constexpr std::array<bool, E::rank> reduced = reduced_axes<E::rank>(axis<N>{}...);
  const bool has_elements = reduction_extents_of(sizes_of(x.extents()), reduced).count != 0;
  for (std::size_t k = 0; k != x.places; ++k) {
    const auto from = x.only_on(k);
    const auto result = to.only_on(k);
    const std::size_t count = reduction_extents_of(sizes_of(from.extents()), reduced).count;
    constexpr bool largest = Operation::kind == reducing::max;
    if ((largest || Operation::kind == reducing::min) && count == 0 && has_elements)
      fill(result, extremum_reducer<typename To::value_type, largest>::identity());
    else
      reduce_by<may_be_scattered<E::rank, axis<N>...>()>(operation, from, reduced, result);
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
