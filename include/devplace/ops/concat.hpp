// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/evaluated.hpp>

// Tensors joined along an axis, and views of the two parts of a tensor.

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Whether all sizes except that of axis N agree, as far as the types know them.
template <std::size_t N, class First, class Other>
inline constexpr bool joins_along = compatible<First, typename with_dynamic_axis<Other, N>::type>;

/// Whether tensors can be joined along axis N, which is a new one for stack; if not, an assertion fails.
template <std::size_t N, bool New, class First, class... Rest> constexpr bool can_join() {
  if constexpr (takes_on_one_place<First, Rest...>()) {
    constexpr std::size_t ignored = New ? dyn : N;
    constexpr bool exists = N < operand_extents_t<First>::rank + New, together = on_one_device<First, Rest...>,
                   same = (std::is_same_v<operand_element_t<First>, operand_element_t<Rest>> && ...),
                   fits = (joins_along<ignored, operand_extents_t<First>, operand_extents_t<Rest>> && ...);
    static_assert(exists, "devplace: the operands have no such axis; axes are numbered from 0.");
    static_assert(
        together,
        "devplace: concat, stack: the operands live on different places; move them to one with to<on<...>>(x).");
    static_assert(same,
                  "devplace: concat, stack: the operands have different element types; convert with cast<T>(x) first.");
    static_assert(!exists || fits,
                  "devplace: concat, stack: the operands must have equal extents along all other axes.");
    return exists && together && same && fits;
  } else {
    return false;
  }
}

/// The extent of axis N of the joined arrays: dyn if that of any array is dyn.
template <std::size_t N, class... Extents>
inline constexpr std::size_t joined_extent =
    ((Extents::static_extent(N) == dyn) || ...) ? dyn : (Extents::static_extent(N) + ...);

template <class Window, class Part> void join(const char* operation, const Window& window, const Part& part) {
  const auto& elements = evaluated(part);
  require_one_device(operation, window, as_any_view(elements));
  copy(window, elements);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Joins the operands along an axis: `concat(axis<0>{}, a, b)`, as numpy.concatenate. The operands are tensors, views
/// or expressions on one place with equal extents along the other axes (shape_error); static extents stay static.
/// Returns a new tensor. Enqueued on the place's current stream.
template <std::size_t N, detail::accepted_argument First, detail::accepted_argument... Rest>
auto concat(axis<N>, First&& first, Rest&&... rest) {
  using X = detail::evaluated_value_t<First>;
  if constexpr (detail::check_unnamed<First, Rest...>() &&
                detail::can_join<N, false, X, detail::evaluated_value_t<Rest>...>()) {
    using from = detail::operand_extents_t<X>;
    using joined = detail::with_axis<
        from, N, detail::joined_extent<N, from, detail::operand_extents_t<detail::evaluated_value_t<Rest>>...>>;
    detail::result_beside_t<X, detail::operand_element_t<X>, typename joined::type> result(
        joined::with((first.extents().extent(N) + ... + rest.extents().extent(N)), first.extents()));
    std::size_t position = 0;
    const auto append = [&](const auto& part) {
      const std::size_t begin = std::exchange(position, position + part.extents().extent(N));
      detail::join("concat", result.slice(axis<N>{}, begin, position), part);
    };
    append(first);
    (append(rest), ...);
    return result;
  } else {
    return detail::refusal{};
  }
}

/// Joins the operands along a new axis: `stack(axis<0>{}, a, b)` of two vectors of 3 is 2x3, as numpy.stack. Other
/// rules are those of concat.
template <std::size_t N, detail::accepted_argument First, detail::accepted_argument... Rest>
auto stack(axis<N>, First&& first, Rest&&... rest) {
  using X = detail::evaluated_value_t<First>;
  if constexpr (detail::check_unnamed<First, Rest...>() &&
                detail::can_join<N, true, X, detail::evaluated_value_t<Rest>...>()) {
    using from = detail::operand_extents_t<X>;
    const auto stacked = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return extents<(K == N ? 1 + sizeof...(Rest) : from::static_extent(K < N ? K : K - 1))...>(
          (K == N ? 1 + sizeof...(Rest) : first.extents().extent(K < N ? K : K - 1))...);
    }(std::make_index_sequence<from::rank + 1>{});
    detail::result_beside_t<X, detail::operand_element_t<X>, std::remove_const_t<decltype(stacked)>> result(stacked);
    std::size_t position = 0;
    detail::join("stack", result.select(axis<N>{}, position++), first);
    (detail::join("stack", result.select(axis<N>{}, position++), rest), ...);
    return result;
  } else {
    return detail::refusal{};
  }
}

/// Splits x in two parts; the second one begins at `index` of an axis: `auto [head, tail] = split_at(x, axis<1>{}, 3)`,
/// as numpy.split. Returns views. Throws argument_error for an index beyond the end.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
constexpr auto split_at(X&& x, axis<N>, std::size_t index) {
  constexpr bool is_viewed = tensor_like<X> && !(detail::is_tensor<X> && std::is_rvalue_reference_v<X&&>);
  static_assert(
      is_viewed,
      "devplace: split_at returns views, so it takes tensors with a name, and views; store an expression or a "
      "temporary tensor first.");
  if constexpr (is_viewed) {
    const auto window = detail::as_any_view(x);
    return std::pair(window.slice(axis<N>{}, 0, index), window.slice(axis<N>{}, index, window.extents().extent(N)));
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
