// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/view_errors.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

/// The message of an assertion. Public functions begin with this assertion, so that the compiler shows the user's line.
#define DEVPLACE_DETAIL_NAMED_EXPRESSION                                                                  \
  "devplace: an expression with a name would be computed at each use, from its tensors' current values; " \
  "store its elements, tensor x = ..., or allow this, auto x = lazy(...)."

namespace devplace {

namespace detail {

/// Whether an argument is a named expression: an lvalue that lazy() (ops/elementwise.hpp) did not make. `X` is deduced
/// from a forwarding reference.
template <class X> inline constexpr bool is_named_expression = false;
template <class X> inline constexpr bool is_named_expression<X&> = requires { requires !X::is_lazy; };
template <class... X> inline constexpr bool no_named_expressions = !(is_named_expression<X> || ...);

/// Why a class with elements is no operand: the elements are a summand of the value, or are still being copied.
enum class rejection : unsigned char { none, summand, pending };
template <class X> inline constexpr rejection rejection_of = rejection::none;

/// Whether all arguments are operands. Fails to compile with the fix for summands and pending copies.
template <class... X> consteval bool check_operands() {
  constexpr bool whole = ((rejection_of<X> != rejection::summand) && ...);
  constexpr bool arrived = ((rejection_of<X> != rejection::pending) && ...);
  static_assert(whole,
                "devplace: one place's summand is not the value; combine the summands first, with all_reduce(x), "
                "reduce<P>(x) or, for gradients, synchronize(g). x.only_on(k) returns a summand as an ordinary view.");
  static_assert(arrived, "devplace: the copy is pending; get() waits for it and returns the tensor.");
  return whole && arrived;
}

template <class A, class B>
concept rejected_pair = rejection_of<A> != rejection::none || rejection_of<B> != rejection::none;

// A bool instead of a concept, because compilers explain at length why a concept is not satisfied.
template <class Where> inline constexpr bool is_placement = placement<Where>;

/// Arguments of the constructor from a list: anything but extents and expressions. check_list() accepts numbers only.
template <class Extents, class... Value>
concept list_of_values =
    sizeof...(Value) > 1 || (sizeof...(Value) == 1 && !(std::is_convertible_v<const Value&, Extents> || ...) &&
                             !(is_local_expression<Value> || ...));

/// Arguments that convert implicitly: numbers, and tensors of other types, which check_list() rejects.
template <class... Value>
inline constexpr bool converts_to_tensor =
    ((std::is_arithmetic_v<Value> || rejection_of<Value> != rejection::none || requires {
       typename Value::extents_type;
     }) && ...);

/// Whether an argument is a function of indices, which a user may expect to make the elements.
template <class F>
concept function_of_indices = !requires {
  typename F::extents_type;
} && (requires { &F::operator(); } || std::invocable<F&, std::size_t> || std::invocable<F&, std::size_t, std::size_t>);

/// Whether these values make a tensor: one number for each index of its only axis.
template <class T, class Extents, class... Value> consteval bool check_list() {
  constexpr bool operands = check_operands<Value...>(), numbers = (std::is_arithmetic_v<Value> && ...),
                 from_one = sizeof...(Value) == 1, with_extents = (std::is_convertible_v<Value, Extents> || ...);
  constexpr bool no_function = !(function_of_indices<Value> || ...), settled = numbers || !no_function,
                 no_other = settled || !from_one || !operands, no_value = settled || from_one || !with_extents,
                 list = settled || from_one || with_extents || !operands,
                 one_axis = !numbers || (Extents::rank < 2 && Extents::is_static),
                 fits = !numbers || !one_axis || sizeof...(Value) == Extents{}.size(),
                 exact = !numbers || !std::is_integral_v<T> || (std::is_integral_v<Value> && ...);
  static_assert(no_function,
                "devplace: a tensor is not made of a function; assign its elements on the host, x(i, j) = f(i, j), and "
                "copy the tensor with to<Where>(x), or compute an expression of arange<T, Where>(n).");
  static_assert(
      no_other,
      "devplace: a tensor is not made of another tensor, a view or a container; to<Where>(x) copies a tensor "
      "or view, and to<Where>(x.reshape(extents(n, m))) with other extents, cast<T>(x) converts its elements, "
      "and wrap(values, extents(n)) is a view of a container.");
  static_assert(no_value, "devplace: for elements of one value write full<T, Where>(extents, value).");
  static_assert(list, "devplace: a tensor is made of its extents or of a list of numbers.");
  static_assert(one_axis,
                "devplace: a list of numbers makes a tensor of one axis with a static extent; a matrix takes nested "
                "lists, {{1, 2}, {3, 4}}, and sizes are given as extents(3, 4).");
  static_assert(fits,
                "devplace: the list does not have the tensor's extents; give exactly as many values as the extent.");
  static_assert(exact,
                "devplace: the list has floating-point values, and the tensor has integer elements, which would cut "
                "off the fractions; write integers.");
  return numbers && one_axis && fits && exact;
}

/// A nested list whose rows have `First`, `Rest`, ... values.
template <std::size_t First, std::size_t... Rest> struct lists {
  using given = extents<1 + sizeof...(Rest), First>;
  template <class Extents> static constexpr bool fit = compatible<Extents, given> && ((Rest == First) && ...);
  /// The extents of the list, or `Extents` if they do not fit.
  template <class Extents> using extents_for = std::conditional_t<fit<Extents>, given, Extents>;
};

/// Fails to compile: a view of a temporary would dangle.
template <class T> refusal view_of_temporary() {
  static_assert(accepted<T>,
                "devplace: a view of a temporary tensor would outlive its memory; keep the tensor in a variable.");
  return {};
}

[[noreturn]] inline void throw_moved_from() {
  throw error("this tensor was moved from and has no elements; assign a new tensor to the variable before you use it.");
}

/// Implements the member function `to` of tensors on one place (tensor/copy.hpp).
template <class Where> struct mover;

// Friends of tensors and of their views.
struct leading_extent;
struct distributed_access;
struct block_access;

}  // namespace detail

#define DEVPLACE_DETAIL_REJECTED(name)       \
  template <class A, class B>                \
    requires detail::rejected_pair<A, B>     \
  detail::refusal name(const A&, const B&) { \
    detail::check_operands<A, B>();          \
    return {};                               \
  }                                          \
  static_assert(true)

/// Rejects operators on summands and pending copies; without these overloads, compilers would list every operator.
///@{
DEVPLACE_DETAIL_REJECTED(operator+);
DEVPLACE_DETAIL_REJECTED(operator-);
DEVPLACE_DETAIL_REJECTED(operator*);
DEVPLACE_DETAIL_REJECTED(operator/);
DEVPLACE_DETAIL_REJECTED(operator+=);
DEVPLACE_DETAIL_REJECTED(operator-=);
DEVPLACE_DETAIL_REJECTED(operator*=);
DEVPLACE_DETAIL_REJECTED(operator/=);
///@}
#undef DEVPLACE_DETAIL_REJECTED

/// Sole owner of a row-major array whose element type, extents and placement are part of its type. Move-only, with deep
/// const; `clone()` copies, `to<Where>` copies to another place. Memory is aligned to 64 bytes. A moved-from tensor may
/// only be assigned to or destroyed. Several threads may read a tensor at once; a thread that writes must be the only
/// one. Specialisations exist for one place and for several places; this template rejects other arguments.
template <class T, class Extents, class Where = void> class tensor : public detail::refusal {
  static constexpr bool has_element = detail::is_element<T>, has_extents = !has_element || detail::is_extents<Extents>,
                        has_place = !has_element || !has_extents || detail::is_placement<Where>;
  static_assert(has_element,
                "devplace: the first argument of tensor is its element type: float, double, std::int32_t, "
                "std::int64_t, std::uint8_t or, for storage, bf16 and half.");
  static_assert(has_extents,
                "devplace: the second argument of tensor is its extents, as in extents<3, 4> or extents<dyn, 4>.");
  static_assert(has_place,
                "devplace: the third argument of tensor is its placement, as in cpu, cuda<0> or "
                "replicated<0, 1>.");

 public:
  /// Avoids follow-up errors.
  template <class... X> explicit tensor(const X&...) {}
};
/// Rejects `tensor a{1.0f, 2.0f}`, which names no place.
template <class... Number>
  requires(sizeof...(Number) > 0 && (std::is_arithmetic_v<Number> && ...))
tensor(Number...) -> tensor<void, void>;

}  // namespace devplace
