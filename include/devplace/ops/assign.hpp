// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/assign_body.hpp>
#include <devplace/ops/detail/evaluation_plan.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

/// Tensors in an expression.
template <class X>
inline constexpr std::size_t tensor_count = 0;
template <class T, class E, class W>
inline constexpr std::size_t tensor_count<view_operand<T, E, W>> = 1;
template <class T, class E, class W>
inline constexpr std::size_t tensor_count<owned_operand<T, E, W>> = 1;
template <class F, class... Operands>
inline constexpr std::size_t tensor_count<expression<F, Operands...>> = (std::size_t{0} + ... + tensor_count<Operands>);

template <class Extents>
constexpr bool is_single() {
  if constexpr (Extents::is_static)
    return Extents{}.size() == 1;
  else
    return false;
}

/// Whether some tensor in the expression may be repeated within a result of extents `Result`, as far as types show.
template <class X, class Result>
inline constexpr bool may_repeat =
    !is_single<typename X::extents_type>() && !(Result::is_static && std::is_same_v<typename X::extents_type, Result>);
template <class T, class Result>
inline constexpr bool may_repeat<scalar_operand<T>, Result> = false;
template <class Result, class F, class... Operands>
inline constexpr bool may_repeat<expression<F, Operands...>, Result> = (may_repeat<Operands, Result> || ...);

template <class Backend>
[[noreturn]] void throw_operand_elsewhere(int operand, int destination) {
  throw argument_error("elementwise: an operand lives on " + place_name(Backend{}, operand) +
                       " and the destination on " + place_name(Backend{}, destination) +
                       "; move one of them first with to<placement>(x).");
}

/// Notes how the tensors of an expression lie, and that they live on the destination's device.
template <std::size_t Count>
struct layout_reader {
  const shape& result;
  int ordinal;
  operand_layout operands[Count == 0 ? 1 : Count];
  std::size_t next = 0;

  template <class T, class E, class W>
  void operator()(const view<T, E, W>& x) {
    if (x.ordinal() != ordinal) throw_operand_elsewhere<typename view<T, E, W>::backend_type>(x.ordinal(), ordinal);
    operand_layout& operand = operands[next++];
    operand.data = x.data();
    operand.size = x.size();
    operand.bytes = x.size() * sizeof(T);
    operand.single = is_single<E>();
    set_strides(operand, shape_of(x.extents()), result);
  }
};

/// Leaves for an evaluation without repetition.
struct make_linear_leaf {
  template <class T, class E, class W>
  constexpr auto operator()(const view<const T, E, W>& x) const {
    if constexpr (is_single<E>())
      return single_leaf<T>{x.data()};
    else
      return linear_leaf<T>{x.data()};
  }
};

/// Leaves for an evaluation with repetition; `rank` axes are in use, the innermost ones of `Rank`.
template <std::size_t Rank>
struct make_strided_leaf {
  const operand_layout* next;
  std::size_t rank;

  template <class T, class E, class W>
  constexpr auto operator()(const view<const T, E, W>& x) {
    const operand_layout& operand = *next++;
    if constexpr (is_single<E>()) {
      return single_leaf<T>{x.data()};
    } else {
      strided_leaf<T, Rank> leaf{x.data(), {}};
      for (std::size_t axis = 0; axis < rank; ++axis)
        leaf.strides[Rank - rank + axis] = operand.strides[axis];
      return leaf;
    }
  }
};

template <class Backend, class Tu, class T, class Expression>
void run_linear(int ordinal, T* destination, std::size_t size, const Expression& expression) {
  make_linear_leaf make;
  const auto tree = expression.tree(make);
  dispatch<op::assign, Backend, Tu>(ordinal, size,
                                    assign_linear<T, std::remove_const_t<decltype(tree)>>{destination, tree});
}

template <std::size_t Rank, class Backend, class Tu, class T, class Expression>
void run_strided(int ordinal, T* destination, std::size_t size, const Expression& expression, const shape& collapsed,
                 const operand_layout* operands, std::size_t count) {
  make_strided_leaf<Rank> make{operands, collapsed.rank};
  const auto tree = expression.tree(make);
  assign_strided<T, std::remove_const_t<decltype(tree)>, Rank> body{
      destination, tree, {}, rows_are_linear(collapsed, operands, count)};
  for (std::size_t axis = 0; axis < Rank; ++axis)
    body.extents[axis] = collapsed.aligned(axis, Rank);
  dispatch<op::assign, Backend, Tu>(ordinal, size, body);
}

/// One pass over the operands, with or without repetition among them.
template <bool Repeats, std::size_t Rank, class Backend, class Tu, class T, class Expression>
void run(int ordinal, T* destination, std::size_t size, const Expression& expression,
         [[maybe_unused]] const shape& collapsed, [[maybe_unused]] const operand_layout* operands,
         [[maybe_unused]] std::size_t count) {
  if constexpr (Repeats) {
    if (collapsed.rank > 1 || !rows_are_linear(collapsed, operands, count)) {
      run_strided<(Rank > 1 ? Rank : 1), Backend, Tu>(ordinal, destination, size, expression, collapsed, operands,
                                                      count);
      return;
    }
  }
  run_linear<Backend, Tu>(ordinal, destination, size, expression);
}

}  // namespace detail

/// Computes an expression (ops/elementwise.hpp) into the elements of a view: one pass over the operands, in the order
/// of the device's work, without allocating. The expression's extents must be the destination's or be broadcast to
/// them: static ones that differ do not compile, run-time ones throw shape_error. The result is as if the expression
/// had been computed before anything was written: an operand that is the destination is read element by element, and
/// one that overlaps it in another way is allowed for by a temporary, which does allocate.
template <class Tu = detail::this_tu, class T, class Extents, class Where, class Expression>
  requires(Expression::is_expression)
void assign(const view<T, Extents, Where>& destination, const Expression& expression) {
  using backend = typename view<T, Extents, Where>::backend_type;
  static_assert(!std::is_const_v<T>,
                "devplace: assign: the destination's elements are const; pass a tensor or view that may be changed.");
  static_assert(std::is_same_v<std::remove_const_t<T>, typename Expression::value_type>,
                "devplace: assign: the destination has another element type than the expression; convert the "
                "expression with cast<T>(...).");
  static_assert(std::is_same_v<Where, typename Expression::placement_type>,
                "devplace: assign: the destination lives on another place than the expression's operands; make the "
                "tensor there and move it with to<placement>(...).");
  using result_extents = detail::broadcast_t<Extents, typename Expression::extents_type>;
  static_assert(detail::compatible<Extents, result_extents>,
                "devplace: assign: the expression's extents cannot be broadcast to the destination's; give the "
                "destination the expression's extents.");

  constexpr std::size_t count = detail::tensor_count<Expression>;
  constexpr bool repeats = detail::may_repeat<Expression, Extents>;
  detail::shape result = detail::shape_of(destination.extents());
  detail::require_broadcast_to(result, detail::shape_of(expression.extents()));
  const int ordinal = destination.ordinal();
  detail::layout_reader<count> reader{result, ordinal, {}};
  expression.visit(reader);
  const std::size_t size = destination.size(), bytes = size * sizeof(T);
  if (size == 0) return;
  const bool in_a_temporary = detail::any_overlaps(destination.data(), bytes, size, reader.operands, count);
  if constexpr (repeats) detail::collapse(result, reader.operands, count);
  if (in_a_temporary) {
    const detail::memory_block temporary = detail::allocate<backend, Tu>(ordinal, bytes, memory_purpose::workspace);
    detail::run<repeats, Extents::rank, backend, Tu>(ordinal, static_cast<T*>(temporary.data()), size, expression,
                                                     result, reader.operands, count);
    detail::copy_within<backend, Tu>(ordinal, destination.data(), temporary.data(), bytes);
  } else {
    detail::run<repeats, Extents::rank, backend, Tu>(ordinal, destination.data(), size, expression, result,
                                                     reader.operands, count);
  }
}

/// Sets every element to `value`, in the order of the device's work.
template <class Tu = detail::this_tu, tensor_like To>
void fill(To&& destination, typename std::remove_cvref_t<To>::value_type value) {
  const auto to = detail::as_view(destination);
  using view_type = std::remove_const_t<decltype(to)>;
  using value_type = typename view_type::value_type;
  static_assert(!std::is_const_v<typename view_type::element_type>,
                "devplace: fill: the destination's elements are const; pass a tensor or view that may be changed.");
  if (to.size() == 0) return;
  detail::dispatch<op::assign, typename view_type::backend_type, Tu>(
      to.ordinal(), to.size(), detail::assign_linear<value_type, detail::scalar_leaf<value_type>>{to.data(), {value}});
}

}  // namespace devplace

#include <devplace/backend/cpu/assign.hpp>
#include DEVPLACE_CUDA_BACKEND(assign)
