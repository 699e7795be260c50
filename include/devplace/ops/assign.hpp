// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/assign_body.hpp>
#include <devplace/ops/detail/evaluation_plan.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::detail {

template <class X> inline constexpr std::size_t tensor_count = 0;
template <class T, class E, class W, class L> inline constexpr std::size_t tensor_count<view_operand<T, E, W, L>> = 1;
template <class T, class E, class W> inline constexpr std::size_t tensor_count<owned_operand<T, E, W>> = 1;
template <class Where, class F, class... Operands>
inline constexpr std::size_t tensor_count<expression<Where, F, Operands...>> =
    (std::size_t{0} + ... + tensor_count<Operands>);

/// Whether the types allow a tensor in the expression to have other strides than a row-major result with the extents
/// `Result`.
template <class X, class Result>
inline constexpr bool may_need_strides =
    !is_single<typename X::extents_type> && !(Result::is_static && std::is_same_v<typename X::extents_type, Result>);
template <class T, class E, class W, class L, class Result>
  requires(!std::is_same_v<L, row_major>)
inline constexpr bool may_need_strides<view_operand<T, E, W, L>, Result> = !is_single<E>;
template <class Result, class Where, class F, class... Operands>
inline constexpr bool may_need_strides<expression<Where, F, Operands...>, Result> =
    (may_need_strides<Operands, Result> || ...);

template <class Backend> [[noreturn]] void throw_operand_elsewhere(int operand, int destination) {
  throw argument_error({"elementwise: an operand lives on ", place_name(Backend{}, operand), " and the destination on ",
                        place_name(Backend{}, destination), "; move one of them first with to<placement>(x)."});
}

/// Makes the leaves of an evaluation in which all operands have the result's layout and share one index.
struct make_linear_leaf {
  template <class View> constexpr auto operator()(const View& x) const {
    using value = typename View::value_type;
    if constexpr (is_single<typename View::extents_type>)
      return single_leaf<value>{raw_data(x)};
    else
      return linear_leaf<value>{raw_data(x)};
  }
};

/// Makes the leaves of an evaluation with strides. The last `rank` of a leaf's `Rank` strides are the operand's; the
/// strides before them are 0.
template <std::size_t Rank> struct make_strided_leaf {
  const operand_layout* next;
  std::size_t rank;

  template <class View> constexpr auto operator()(const View& x) {
    using value = typename View::value_type;
    const operand_layout& operand = *next++;
    if constexpr (is_single<typename View::extents_type>) {
      return single_leaf<value>{raw_data(x)};
    } else {
      strided_leaf<value, Rank> leaf{raw_data(x), {}};
      operand.aligned_strides(rank, leaf.strides, Rank);
      return leaf;
    }
  }
};

/// The parameters of an evaluation: the axes that remain after collapse(), and the layouts of the operands and, last,
/// of the destination.
template <std::size_t Count> struct evaluation {
  shape axes;
  operand_layout layouts[Count + 1];

  const operand_layout& destination() const { return layouts[Count]; }
};

template <std::size_t Rank, class Backend, class Target, class Expression, std::size_t Count>
void run_strided(int ordinal, const Target& destination, const Expression& expression,
                 const evaluation<Count>& parameters) {
  make_strided_leaf<Rank> make{parameters.layouts, parameters.axes.rank};
  const auto tree = expression.tree(make);
  assign_strided<Target, std::remove_const_t<decltype(tree)>, Rank> body{
      destination, tree, {}, rows_are_linear(parameters.axes, parameters.layouts, Count + 1)};
  for (std::size_t axis = 0; axis < Rank; ++axis) body.extents[axis] = parameters.axes.aligned(axis, Rank);
  for_each_index<Backend>(ordinal, parameters.destination().size, elementwise_grain, body);
}

/// Computes an expression whose operands have one element or are row-major with `n` elements, as the destination. An
/// operand either is the destination or shares no memory with it.
template <class Backend, class T> void run_linear(int ordinal, T* destination, std::size_t n, const auto& expression) {
  make_linear_leaf make;
  const auto tree = expression.tree(make);
  for_each_index<Backend>(ordinal, n, elementwise_grain,
                          assign_linear<T, std::remove_const_t<decltype(tree)>>{destination, tree});
}

/// Computes an expression in one pass over the operands. `Layout` is the layout type of the destination; `Strides`:
/// whether the types allow strides.
template <class Layout, bool Strides, std::size_t MostAxes, class Backend, class T, class Expression, std::size_t Count>
void run(int ordinal, T* destination, const Expression& expression, const evaluation<Count>& parameters) {
  constexpr std::size_t rank = MostAxes > 1 ? MostAxes : 1;
  if constexpr (Strides) {
    if (parameters.axes.rank > 1 || !rows_are_linear(parameters.axes, parameters.layouts, Count + 1)) {
      if constexpr (std::is_same_v<Layout, row_major>) {
        run_strided<rank, Backend>(ordinal, row_major_target<T, rank>{destination}, expression, parameters);
      } else {
        strided_target<T, rank> target{destination, {}};
        parameters.destination().aligned_strides(parameters.axes.rank, target.strides, rank);
        run_strided<rank, Backend>(ordinal, target, expression, parameters);
      }
      return;
    }
  }
  run_linear<Backend>(ordinal, destination, parameters.destination().size, expression);
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Records the layout of an expression's tensors and checks that they are on the destination's device.
struct layout_reader {
  const shape& result;
  int ordinal;
  operand_layout* next;

  template <class View> void operator()(const View& x) {
    if (x.ordinal() != ordinal) throw_operand_elsewhere<typename View::backend_type>(x.ordinal(), ordinal);
    *next++ = layout_of(x, result);
  }
};

template <class T, class Extents, class Where, class Layout, class Expression>
void evaluate(const view<T, Extents, Where, Layout>& destination, const Expression& expression) {
  using backend = typename view<T, Extents, Where>::backend_type;
  constexpr std::size_t count = tensor_count<Expression>;
  constexpr bool strides = may_need_strides<Expression, Extents> || !std::is_same_v<Layout, row_major>;
  const shape result = shape_of(destination.extents());
  require_broadcast_to(result, shape_of(expression.extents()));
  const int ordinal = destination.ordinal();
  evaluation<count> plan{result, {}};
  layout_reader reader{result, ordinal, plan.layouts};
  expression.visit(reader);
  plan.layouts[count] = layout_of(destination, result);
  if (destination.size() == 0) return;
  if (any_overlaps(plan.destination(), plan.layouts, count)) {
    const std::size_t bytes = destination.size() * sizeof(T);
    const memory_block temporary = allocate<backend>(ordinal, bytes, memory_purpose::workspace);
    const view<T, Extents, Where> packed(static_cast<T*>(temporary.data()), destination.extents(),
                                         destination.device());
    evaluate(packed, expression);
    if constexpr (std::is_same_v<Layout, row_major>)
      copy_within<backend>(ordinal, raw_data(destination), raw_data(packed), bytes);
    else
      evaluate(destination, viewed(packed));
  } else {
    if constexpr (strides) collapse(plan.axes, plan.layouts, count + 1);
    run<Layout, strides, Extents::rank, backend>(ordinal, raw_data(destination), expression, plan);
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

/// Asserted in the bodies of assignments, so that the compiler shows the user's line next to the message.
#define DEVPLACE_DETAIL_ASSIGNED_CONST                                                                               \
  "devplace: assign: the destination's elements are const; pass a tensor or view that may be changed; x.only_on(k) " \
  "is one of several copies, and writing to it would leave the others unchanged."

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Computes an expression (ops/elementwise.hpp) into the elements of a view: one pass over the operands, enqueued on
/// the device's current stream, without allocating. The expression's extents must equal the destination's or broadcast
/// to them: different static extents do not compile, different run-time extents throw shape_error. The result is as if
/// the expression were computed before anything is written. An operand that overlaps the destination therefore costs a
/// temporary, unless it is the destination itself. `expression` may also be a view: copy() and to() call assign() if
/// one of the views is strided.
template <class T, class Extents, class Where, class Layout, class Expression>
  requires(detail::is_view<std::remove_cvref_t<Expression>> || std::remove_cvref_t<Expression>::is_expression)
auto assign(const view<T, Extents, Where, Layout>& destination, Expression&& expression) {
  using source = std::remove_cvref_t<Expression>;
  constexpr bool stored = detail::no_named_expressions<Expression>, written = !std::is_const_v<T>,
                 same_type = std::is_same_v<std::remove_const_t<T>, typename source::value_type>,
                 same_place = std::is_same_v<Where, typename source::placement_type> ||
                              std::is_void_v<typename source::placement_type>,
                 fits = detail::assigned_extents<Extents, Expression>::fit;
  static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  static_assert(written, DEVPLACE_DETAIL_ASSIGNED_CONST);
  static_assert(same_type,
                "devplace: assign: the destination has another element type than the expression; convert the "
                "expression with cast<T>(...).");
  static_assert(same_place,
                "devplace: assign: the destination lives on another place than the expression's operands; make the "
                "tensor there and move it with to<placement>(...).");
  static_assert(fits, DEVPLACE_DETAIL_ASSIGNED_EXTENTS);
  constexpr bool computed = detail::computes<typename view<T, Extents, Where>::backend_type>;
  static_assert(computed,
                "devplace: nothing is computed in pinned memory, which is for copies from and to devices; first move "
                "the tensor to a place that computes, with to<cpu>(x).");
  if constexpr (written && same_type && same_place && fits && computed) {
    if constexpr (detail::is_view<source>)
      detail::evaluate(destination, detail::viewed(expression));
    else
      detail::evaluate(destination, detail::without_lazy(std::as_const(expression)));
  }
}

/// Sets every element to `value`, in the order of the device's current stream.
template <tensor_like To>
void fill(To&& destination, detail::computed_t<typename std::remove_cvref_t<To>::value_type> value) {
  const auto to = detail::as_any_view(destination);
  using view_type = std::remove_const_t<decltype(to)>;
  constexpr bool written = !std::is_const_v<typename view_type::element_type>;
  static_assert(written,
                "devplace: fill: the destination's elements are const; pass a tensor or view that may be changed; "
                "x.only_on(k) is one of several copies, and writing to it would leave the others unchanged.");
  if constexpr (written)
    detail::evaluate(to, detail::scalar_operand<typename view_type::value_type>{typename view_type::value_type(value)});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(assign)
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>
