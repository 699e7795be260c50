// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/ops/detail/broadcast.hpp>
#include <devplace/ops/detail/operand.hpp>

namespace devplace {

namespace detail {

template <class... Placements>
struct common_placement {
  using type = void;
};
template <class First, class... Rest>
struct common_placement<First, Rest...> {
  using type = First;
};
template <class... Rest>
struct common_placement<void, Rest...> : common_placement<Rest...> {};

/// Rejects functors whose result is not an element type.
template <class F, class Result>
struct result_of_functor {
  static_assert(element<Result>,
                "devplace: elementwise: the functor's result is no element type; return float, double, std::int32_t, "
                "std::int64_t or std::uint8_t.");
  static_assert(std::is_trivially_copyable_v<F>,
                "devplace: elementwise: the functor must be trivially copyable, as devices get a copy of its bytes; "
                "hold numbers and pointers in it.");
  using type = Result;
};

}  // namespace detail

/// An elementwise expression that is evaluated lazily, such as `a + 2.0f * b`: nothing is computed until it is assigned
/// to a tensor or view, or a tensor is made from it; then a single loop computes all of it.
///
/// It owns tensors that were temporaries or were moved in, and holds views of all others, which must outlive it: a
/// function may return `std::move(local) + 1.0f` or a tensor made from an expression, not `local + 1.0f`. Numbers are
/// held by value. An expression that owns a tensor can only be moved.
template <class F, class... Operands>
class expression {
 public:
  static constexpr bool is_expression = true;
  using value_type = typename detail::result_of_functor<
      F, std::remove_cvref_t<std::invoke_result_t<const F&, typename Operands::value_type...>>>::type;
  using extents_type = detail::broadcast_t<typename Operands::extents_type...>;
  using placement_type = typename detail::common_placement<typename Operands::placement_type...>::type;
  static constexpr std::size_t rank = extents_type::rank;

  /// Throws shape_error if run-time extents cannot be broadcast.
  constexpr explicit expression(const F& function, Operands... operands)
      : extents_(detail::broadcast_extents<extents_type>(operands.extents()...)),
        function_(function),
        operands_(std::move(operands)...) {}

  constexpr const extents_type& extents() const { return extents_; }
  constexpr std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  constexpr std::size_t size() const { return extents_.size(); }

  /// A non-owning version of the expression; the original must outlive it.
  constexpr auto borrowed() const {
    return std::apply(
        [this](const Operands&... operands) {
          return expression<F, decltype(operands.borrowed())...>(function_, operands.borrowed()...);
        },
        operands_);
  }

  /// Calls `visit(view)` for each tensor, from left to right.
  template <class Visit>
  constexpr void visit(Visit& visit) const {
    std::apply([&visit](const Operands&... operands) { (operands.visit(visit), ...); }, operands_);
  }

  /// The tree for its evaluation, with `make(view)` in place of each tensor, called from left to right.
  template <class Make>
  constexpr auto tree(Make& make) const {
    return std::apply(
        [&make, this](const Operands&... operands) {
          using result = detail::node<F, std::index_sequence_for<Operands...>, decltype(operands.tree(make))...>;
          return result{{operands.tree(make)}..., function_};  // braces: evaluated in order
        },
        operands_);
  }

 private:
  [[no_unique_address]] extents_type extents_;
  F function_;
  std::tuple<Operands...> operands_;
};

/// `tensor c = a + b;`
template <class F, class... Operands>
tensor(const expression<F, Operands...>&)
    -> tensor<typename expression<F, Operands...>::value_type, typename expression<F, Operands...>::extents_type,
              typename expression<F, Operands...>::placement_type>;

namespace detail {

template <class F, class... Operands>
constexpr auto make_expression(const F& function, Operands... operands) {
  return expression<F, Operands...>(function, std::move(operands)...);
}

/// Rejects integers in functions that are defined for floating-point numbers only.
template <class F, class Element>
struct elements_of_function {
  static_assert(
      std::is_floating_point_v<Element> || !requires { F::floating_only; },
      "devplace: exp, log, sqrt, tanh, sigmoid and pow take float or double elements; convert them first with "
      "cast<float>(x).");
};

/// An expression of one argument.
template <class F, class X>
constexpr auto unary(const F& function, X&& x) {
  static_cast<void>(sizeof(elements_of_function<F, value_type_of<X>>));
  return make_expression(function, make_operand<value_type_of<X>>(std::forward<X>(x)));
}

/// An expression of two arguments, one of which may be a number.
template <class F, class A, class B>
constexpr auto binary(const F& function, A&& a, B&& b) {
  using value = pair_value_t<A, B>;
  static_cast<void>(sizeof(elements_of_function<F, value>));
  return make_expression(function, make_operand<value>(std::forward<A>(a)), make_operand<value>(std::forward<B>(b)));
}

}  // namespace detail
}  // namespace devplace
