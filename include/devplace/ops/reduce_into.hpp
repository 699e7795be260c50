// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/ops/detail/matrix_operands.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/reduce.hpp>

namespace devplace {

/// Options of sum_into.
struct sum_options {
  bool accumulate = false;  ///< y = y + sums; otherwise y is not read
};

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Whether a reduction of X can be written to Y; if not, an assertion fails.
template <class Operation, class Y, class X, class... Axes> constexpr auto can_reduce_into() {
  if constexpr (can_reduce<Operation, X, Axes...>()) {
    using plain = std::remove_cvref_t<X>;
    using value = typename plain::value_type;
    using remaining = decltype(remaining_extents(std::declval<const typename plain::extents_type&>(), Axes{}...));
    constexpr bool wider = half_precision_element<value> && std::is_same_v<value_type_of<Y>, float> &&
                           (Operation::kind == reducing::sum || Operation::kind == reducing::mean),
                   same = std::is_same_v<value_type_of<Y>, typename Operation::template result<value>> || wider,
                   fits = compatible<typename std::remove_cvref_t<Y>::extents_type, remaining>;
    constexpr bool together = [] {
      if constexpr (distributed_operand<X>)
        return std::is_same_v<placement_type_of<Y>, reduced_placement_t<Operation, X, Axes...>>;
      else if constexpr (distributed_tensor<Y>)
        return false;
      else
        return can_be_one_device<placement_type_of<Y>, placement_type_of<X>>;
    }();
    constexpr bool written = [] {
      if constexpr (distributed_tensor<Y>)
        return !std::is_const_v<Y>;
      else
        return writable<Y>;
    }();
    static_assert(
        together,
        "devplace: a reduction's result lies on another placement than the reduced operand: move the result or "
        "the operand with to<on<...>>(x); for several places, docs/algebra.md has the result's placement.");
    static_assert(written,
                  "devplace: the elements of a reduction's result are const; pass a tensor or view to write to.");
    static_assert(same,
                  "devplace: a reduction's result has the wrong element type: sums, means and extrema have the "
                  "operand's type, sums int64 for integers; sums and means of 16-bit types may be float.");
    static_assert(fits,
                  "devplace: a reduction's result must have the extents of the axes that are not reduced, in order.");
    return together && written && same && fits;
  } else {
    return false;
  }
}

template <class Operation, class Y, class X, class... Axes>
auto reduce_into(const char* name, const Operation& operation, Y& y, X&& x, const Axes&... axes) {
  if constexpr (can_reduce_into<Operation, Y, X, Axes...>()) {
    const auto extents = remaining_extents(x.extents(), axes...);
    if (!(y.extents() == extents))
      throw_other_extents(name, "the result", sizes_of(y.extents()), "the operand without the reduced axes",
                          sizes_of(extents));
    if constexpr (distributed_operand<X>) {
      const auto& source = evaluated(std::forward<X>(x));
      if constexpr (kind_of<placement_type_of<Y>>::is_split) require_same_split(name, y, source);
      reduce_on_places(operation, source, y, axes...);
    } else {
      const auto to = as_any_view(y);
      if constexpr (tensor_like<X>) {
        const auto from = as_any_view(x);
        require_one_device(name, to, from);
        if (overlap(to, from) && overlap(from, to)) throw_shared_elements(name);
      }
      reduce_on_place(operation, x, to, axes...);
    }
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y = sums of x along axes, as sum(x, axes...) but in existing memory: `sum_into(y, x, axis<0>{})`. Shapes: y has the
/// axes that remain, in order. y has any strides, and x's element type or, for integers, int64; for 16-bit types it may
/// be float. A y over several places lies on the placement of sum(x, axes...). In the order of the current stream of
/// the place. Allocates only for operands that are first evaluated in workspace (reduce.hpp). x must not share elements
/// with y (argument_error), unless it is an expression. Different run-time extents throw shape_error.
template <tensor_like Y, class... Axes, detail::reduction_call<Axes...> X>
void sum_into(Y&& y, X&& x, const Axes&... axes) {
  detail::reduce_into("sum_into", detail::sum_operation{}, y, std::forward<X>(x), axes...);
}

/// As sum_into, but with `{.accumulate = true}` y = y + sums: the gradient of a bias is `sum_into(db, dy, {.accumulate
/// = c.accumulate}, axis<0>{})`.
template <tensor_like Y, class... Axes, detail::reduction_call<Axes...> X>
void sum_into(Y&& y, X&& x, sum_options options, const Axes&... axes) {
  detail::reduce_into("sum_into", detail::sum_operation{options.accumulate}, y, std::forward<X>(x), axes...);
}

/// y = means of x along axes; NaN without elements. Other rules are those of sum_into.
template <tensor_like Y, class... Axes, detail::reduction_call<Axes...> X>
void mean_into(Y&& y, X&& x, const Axes&... axes) {
  detail::reduce_into("mean_into", detail::mean_operation{}, y, std::forward<X>(x), axes...);
}

/// y = largest or smallest elements of x along axes, in x's element type; NaN if an element is NaN. Throws
/// argument_error without elements. Other rules are those of sum_into.
///@{
template <tensor_like Y, class... Axes, detail::reduction_call<Axes...> X>
void max_into(Y&& y, X&& x, const Axes&... axes) {
  detail::reduce_into("max_into", detail::extremum_operation<true>{}, y, std::forward<X>(x), axes...);
}
template <tensor_like Y, class... Axes, detail::reduction_call<Axes...> X>
void min_into(Y&& y, X&& x, const Axes&... axes) {
  detail::reduce_into("min_into", detail::extremum_operation<false>{}, y, std::forward<X>(x), axes...);
}
///@}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
