// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed_operand.hpp>
#include <devplace/ops/detail/distributed_shapes.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/placement_check.hpp>

namespace devplace {

/// A lazily evaluated elementwise expression of distributed tensors, such as `a + 2.0f * b`. `at(k)` is an ordinary
/// expression on place k; the whole is computed in one pass per place when it is assigned to a tensor or a tensor is
/// constructed from it. There is no communication; the places work concurrently.
///
/// It owns tensors that were temporaries or were moved in, and refers to all others, which must outlive it and not be
/// moved. `Where` follows from the algebra of placements (docs/algebra.md).
template <class Where, class F, class... Operands>
class distributed_expression {
 public:
  /// Distinguishes it from an expression on one place.
  static constexpr bool is_distributed_expression = true;
  /// The properties given by the type: element type, extents of the whole, placement.
  ///@{
  using value_type = typename detail::result_of_functor<
      F, std::remove_cvref_t<std::invoke_result_t<const F&, typename Operands::value_type...>>>::type;
  using extents_type = detail::broadcast_t<typename Operands::extents_type...>;
  using placement_type = Where;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = extents_type::rank;
  /// Number of places.
  static constexpr std::size_t places = local_place_count<Where>;

  /// Throws shape_error if run-time extents cannot be broadcast, or only by crossing places.
  explicit distributed_expression(const F& function, Operands... operands)
      : extents_(detail::broadcast_extents<extents_type>(operands.extents()...)),
        function_(function),
        operands_(std::move(operands)...) {
    std::apply(
        [this](const Operands&... operand) { (detail::require_local_operand<Where>(extents_, operand, like()), ...); },
        operands_);
  }

  /// The sizes of all axes of the whole.
  const extents_type& extents() const { return extents_; }
  /// The size of one axis of the whole.
  std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  /// Number of elements of the whole.
  std::size_t size() const { return extents_.size(); }

  /// The expression of place k's local tensors; this object must outlive it.
  template <detail::configured = detail::configuration>
  auto at(std::size_t k) const {
    return std::apply(
        [this, k](const Operands&... operands) {
          return detail::make_expression(function_, detail::operand_at(operands, k)...);
        },
        operands_);
  }

  /// A non-owning version of the expression; the original must outlive it.
  auto borrowed() const {
    return std::apply(
        [this](const Operands&... operands) {
          return distributed_expression<Where, F, decltype(operands.borrowed())...>(function_, operands.borrowed()...);
        },
        operands_);
  }

  /// The first of its tensors that is distributed like the result.
  const auto& like() const { return like_from<0>(); }

  /// Computes the expression into a tensor of the same placement, place by place.
  template <class T, class Extents, class To, detail::configured = detail::configuration>
  void into(tensor<T, Extents, To>& destination) const {
    static_assert(std::is_same_v<To, Where>,
                  "devplace: assign: the destination lies on another placement than the expression; make the tensor "
                  "there and change its placement with a collective, such as scatter, all_gather or all_reduce.");
    static_assert(std::is_same_v<T, value_type>,
                  "devplace: assign: the destination has another element type than the expression; convert the "
                  "expression with cast<T>(...).");
    if constexpr (std::is_same_v<To, Where> && std::is_same_v<T, value_type>) {
      static_assert(detail::compatible<Extents, detail::broadcast_t<Extents, extents_type>>,
                    "devplace: assign: the expression's extents cannot be broadcast to the destination's; give the "
                    "destination the expression's extents.");
      detail::require_destination<Where>(destination, *this);
      for (std::size_t k = 0; k != places; ++k)
        assign(destination.local(k), at(k));
    }
  }

  /// An uninitialised tensor of type `Result` for the result.
  template <class Result, detail::configured = detail::configuration>
  Result storage() const {
    static_assert(std::is_same_v<typename Result::placement_type, Where>,
                  "devplace: a tensor lies on another placement than the expression it is made from; make it there "
                  "and change its placement with a collective, such as scatter, all_gather or all_reduce.");
    static_assert(std::is_same_v<typename Result::value_type, value_type>,
                  "devplace: a tensor has another element type than the expression it is made from; convert the "
                  "expression with cast<T>(...).");
    return detail::make_like<typename Result::value_type, Where>(typename Result::extents_type(extents_), like());
  }

 private:
  template <std::size_t I>
  const auto& like_from() const {
    const auto& operand = std::get<I>(operands_);
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(operand)>::placement_type, Where>)
      return operand.like();
    else
      return like_from<I + 1>();
  }

  [[no_unique_address]] extents_type extents_;
  F function_;
  std::tuple<Operands...> operands_;
};

/// `tensor c = a + b;`
template <class Where, class F, class... Operands>
tensor(const distributed_expression<Where, F, Operands...>&)
    -> tensor<typename distributed_expression<Where, F, Operands...>::value_type,
              typename distributed_expression<Where, F, Operands...>::extents_type, Where>;

}  // namespace devplace

namespace devplace::detail {

/// How an elementwise function acts on summands with elements of type T. Integer quotients are truncated, so they are
/// not linear.
template <class F, class T>
inline constexpr arithmetic arithmetic_of = arithmetic::pointwise;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::plus, T> = arithmetic::additive;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::minus, T> = arithmetic::additive;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::times, T> = arithmetic::product;
template <floating_element T>
inline constexpr arithmetic arithmetic_of<elementary::divide, T> = arithmetic::quotient;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::negate, T> = arithmetic::negation;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::maximum, T> = arithmetic::larger;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::minimum, T> = arithmetic::smaller;

template <class Where, class F, class... Operands>
auto make_distributed_expression(const F& function, Operands... operands) {
  return distributed_expression<Where, F, Operands...>(function, std::move(operands)...);
}

/// The element types of a function's operands, in order.
template <class... T>
struct elements_are {};

/// An expression of distributed operands and numbers, with the given element types.
template <class F, class... T, class... X>
auto distributed(const F& function, elements_are<T...>, X&&... x) {
  constexpr bool fitting_elements = (has_elements<X, T> && ...);
  static_assert(fitting_elements,
                "devplace: elementwise: the operands have different element types; convert one with cast<T>(x) first.");
  using first = std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>;
  using rule = elementwise_result<arithmetic_of<F, first>, placement_or_void_t<X>...>;
  if constexpr (common_result<rule>::value && fitting_elements)
    return make_distributed_expression<typename rule::type>(function,
                                                            make_distributed_operand<T>(std::forward<X>(x))...);
}

template <class F, class X>
auto distributed_unary(const F& function, X&& x) {
  static_cast<void>(sizeof(elements_of_function<F, value_type_of<X>>));
  return distributed(function, elements_are<value_type_of<X>>{}, std::forward<X>(x));
}

template <class F, class A, class B>
auto distributed_binary(const F& function, A&& a, B&& b) {
  using value = pair_value_t<A, B>;
  static_cast<void>(sizeof(elements_of_function<F, value>));
  return distributed(function, elements_are<value, value>{}, std::forward<A>(a), std::forward<B>(b));
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// destination = function(destination, x).
template <class F, class To, class X>
void distributed_compound(const F& function, To& destination, X&& x) {
  static_assert(!std::is_const_v<To>,
                "devplace: assign: the destination's elements are const; pass a tensor that may be changed.");
  if constexpr (!std::is_const_v<To> &&
                !std::is_void_v<decltype(distributed_binary(function, destination, std::forward<X>(x)))>)
    distributed_binary(function, destination, std::forward<X>(x)).into(destination);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
