// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operand.hpp>

// Over several places, only local tensors broadcast. A split operand has the split axis of the result in full extent.
// Any other operand lacks this axis or has extent 1 along it.
namespace devplace::detail {

[[noreturn]] inline void throw_repeated_parts(const char* operation, const shape& from, const shape& to) {
  throw shape_error({operation, ": a split operand of ", to_string(from), " cannot be broadcast to ", to_string(to),
                     ": its split axis would be repeated across places; gather it first."});
}
[[noreturn]] inline void throw_whole_beside_parts(const shape& operand, const shape& result) {
  throw shape_error({"elementwise: a whole operand of ", to_string(operand), " has the split axis of ",
                     to_string(result), ", and each place takes a part; scatter it first."});
}

/// Throws unless each place's local tensor of `operand` has all elements that the place's part of the result needs.
/// `like` is a tensor distributed like the result.
template <class Result, class Extents, class Operand, class Like>
void require_local_operand(const Extents& extents, const Operand& operand, const Like& like) {
  constexpr std::size_t axis = kind_of<Result>::axis;
  if constexpr (kind_of<Result>::is_split) {
    using operand_extents = typename Operand::extents_type;
    const shape of_operand = shape_of(operand.extents()), of_result = shape_of(extents);
    const std::size_t extent = of_operand.aligned(axis, Extents::rank);
    if constexpr (std::is_same_v<typename Operand::placement_type, Result>) {
      static_assert(
          operand_extents::rank == Extents::rank,
          "devplace: elementwise: a split operand has fewer axes than another, so its split axis would not be "
          "the result's; make it whole first, all_gather(x), or give it as many axes.");
      if (extent != extents.extent(axis)) throw_repeated_parts("elementwise", of_operand, of_result);
      require_same_split("elementwise", operand.like(), like);
    } else {
      constexpr std::size_t given = aligned_static_extent<operand_extents>(axis, Extents::rank);
      static_assert(given == 1 || given == dyn,
                    "devplace: elementwise: a whole operand has the axis along which another is split, and each place "
                    "would use only a part of it; split it first, scatter<sharded<axis<0>, ...>>(x).");
      if (extent != 1) throw_whole_beside_parts(of_operand, of_result);
    }
  }
}

/// Throws unless an expression on Where can be written to the destination, also on Where, place by place.
template <class Where, class To, class Expression>
void require_destination(const To& destination, const Expression& expression) {
  const shape result = shape_of(destination.extents()), computed = shape_of(expression.extents());
  require_broadcast_to(result, computed);
  if constexpr (kind_of<Where>::is_split) {
    static_assert(Expression::rank == To::rank,
                  "devplace: assign: the expression has fewer axes than the destination, so it is split along another "
                  "axis; give it as many axes.");
    if (expression.extent(kind_of<Where>::axis) != destination.extent(kind_of<Where>::axis))
      throw_repeated_parts("assign", computed, result);
    require_same_split("assign", destination, expression.like());
  }
}

template <class F, class... Operands> constexpr auto make_expression(const F& function, Operands... operands);

/// The operands of an expression. Instantiates fewer functions than std::tuple and std::apply.
///@{
template <class Indices, class... Operands> struct operand_list;
template <std::size_t... I, class... Operands>
struct operand_list<std::index_sequence<I...>, Operands...> : branch<I, Operands>... {
  template <class F> constexpr decltype(auto) apply(F f) const { return f(branch<I, Operands>::child...); }
};
template <std::size_t I, class Operand> constexpr const Operand& operand_of(const branch<I, Operand>& list) {
  return list.child;
}
///@}

}  // namespace devplace::detail

namespace devplace {

/// An elementwise expression that is evaluated lazily, such as `a + 2.0f * b`. A single loop computes the expression
/// when it is assigned to a tensor or view, or when a tensor is made from it. Over several places, each place runs one
/// loop, concurrently and without communication. `Where` follows from the operands (docs/algebra.md).
///
/// An expression owns tensors that were temporaries or were moved in; it is then move-only. It refers to all other
/// tensors, which must outlive the expression and must not be moved. A function may therefore return `std::move(local)
/// + 1.0f` or a tensor made from an expression, not `local + 1.0f`. Numbers are held by value.
///
/// An expression with a name is rejected as an operand: `auto norm = sqrt(x); x /= norm;` does not compile, because
/// `norm` would be computed anew at each use. `tensor norm = sqrt(x);` stores its elements; `auto norm =
/// lazy(sqrt(x));` allows computing it at each use.
template <class Where, class F, class... Operands> class DEVPLACE_NODISCARD expression {
 public:
  /// Whether the tensors are on one place or over several.
  ///@{
  static constexpr bool is_distributed_expression = detail::over_several_places<Where>;
  static constexpr bool is_expression = !is_distributed_expression;
  ///@}
  /// Whether lazy() made the expression.
  static constexpr bool is_lazy = false;
  /// The properties given by the type: element type, extents (of the whole), placement.
  ///@{
  using value_type = std::remove_cvref_t<std::invoke_result_t<const F&, typename Operands::value_type...>>;
  using extents_type = detail::broadcast_t<typename Operands::extents_type...>;
  using placement_type = Where;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = extents_type::rank;

  /// Throws shape_error if run-time extents cannot be broadcast, or if broadcasting would move elements between places.
  constexpr explicit expression(const F& function, Operands... operands)
      : extents_(detail::broadcast_extents<extents_type>(operands.extents()...)),
        function_(function),
        operands_{{std::move(operands)}...} {
    if constexpr (is_distributed_expression)
      operands_.apply([this](const Operands&... operand) {
        (detail::require_local_operand<Where>(extents_, operand, like()), ...);
      });
  }

  /// The sizes of all axes.
  constexpr const extents_type& extents() const { return extents_; }
  /// The size of one axis.
  constexpr std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  /// Number of elements.
  constexpr std::size_t size() const { return extents_.size(); }

  /// Returns a non-owning version of the expression; the original must outlive it.
  constexpr auto borrowed() const {
    return operands_.apply([this](const Operands&... operands) {
      return expression<Where, F, decltype(operands.borrowed())...>(function_, operands.borrowed()...);
    });
  }

  /// On one place: calls `visit(view)` for each tensor, from left to right.
  template <class Visit> constexpr void visit(Visit& visit) const {
    operands_.apply([&visit](const Operands&... operands) { (operands.visit(visit), ...); });
  }

  /// On one place: returns the evaluation tree. Calls `make(view)` for each tensor's leaf, from left to right.
  template <class Make> constexpr auto tree(Make& make) const {
    return operands_.apply([&make, this](const Operands&... operands) {
      using result = detail::node<F, std::index_sequence_for<Operands...>, decltype(operands.tree(make))...>;
      return result{{operands.tree(make)}..., function_};  // braces: evaluated in order
    });
  }

  /// Over several places: returns the expression of place k's local tensors; this object must outlive the result.
  DEVPLACE_CONFIGURED auto at(std::size_t k) const {
    return operands_.apply(
        [this, k](const Operands&... operands) { return detail::make_expression(function_, operands.at(k)...); });
  }

  /// Over several places: returns the first tensor in the expression that is distributed like the result.
  template <std::size_t I = 0> const auto& like() const {
    const auto& operand = detail::operand_of<I>(operands_);
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(operand)>::placement_type, Where>)
      return operand.like();
    else
      return like<I + 1>();
  }

  /// Over several places: computes the expression into a tensor of the same placement, place by place.
  template <class T, class Extents, class To> DEVPLACE_CONFIGURED auto into(tensor<T, Extents, To>& destination) const {
    static_assert(std::is_same_v<To, Where>,
                  "devplace: assign: the destination lies on another placement than the expression; make the tensor "
                  "there and change its placement with a collective, such as scatter, all_gather or all_reduce.");
    static_assert(std::is_same_v<T, value_type>,
                  "devplace: assign: the destination has another element type than the expression; convert the "
                  "expression with cast<T>(...).");
    if constexpr (std::is_same_v<To, Where> && std::is_same_v<T, value_type>) {
      constexpr bool fits = detail::compatible<Extents, detail::broadcast_t<Extents, extents_type>>;
      static_assert(fits, DEVPLACE_DETAIL_ASSIGNED_EXTENTS);
      if constexpr (fits) {
        detail::require_destination<Where>(destination, *this);
        for (std::size_t k = 0; k != destination.places; ++k) assign(destination.only_on(k), at(k));
      }
    }
  }

  /// Over several places: makes an uninitialised tensor of type `Result` for the result.
  template <class Result> DEVPLACE_CONFIGURED Result storage() const {
    constexpr bool same_placement = std::is_same_v<typename Result::placement_type, Where>,
                   same_type = std::is_same_v<typename Result::value_type, value_type>;
    static_assert(same_placement,
                  "devplace: a tensor lies on another placement than the expression it is made from; make it there "
                  "and change its placement with a collective, such as scatter, all_gather or all_reduce.");
    static_assert(same_type,
                  "devplace: a tensor has another element type than the expression it is made from; convert the "
                  "expression with cast<T>(...).");
    if constexpr (same_placement && same_type)
      return detail::make_like<value_type, Where>(typename Result::extents_type(extents_), like());
    else
      return Result(typename Result::extents_type(extents_));
  }

 private:
  [[no_unique_address]] extents_type extents_;
  F function_;
  detail::operand_list<std::index_sequence_for<Operands...>, Operands...> operands_;
};

/// An expression, made by lazy(), that may have a name and be used several times.
template <class Expression> class DEVPLACE_NODISCARD lazy_expression : public Expression {
 public:
  static constexpr bool is_lazy = true;

  constexpr explicit lazy_expression(Expression&& source) : Expression(std::move(source)) {}
};

/// `tensor c = a + b;`
template <class Where, class F, class... Operands>
tensor(const expression<Where, F, Operands...>&)
    -> tensor<typename expression<Where, F, Operands...>::value_type,
              typename expression<Where, F, Operands...>::extents_type, Where>;

/// Deduces some tensor for a rejected operation, to avoid follow-up errors.
tensor(detail::refusal) -> tensor<float, extents<>, on<cpu>>;

}  // namespace devplace
