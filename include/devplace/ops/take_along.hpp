// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/concat.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/ops/take_rows.hpp>

// Operations that choose or add elements along one axis, by an index for each of them: torch's gather and scatter_add_.
// Here, `gather` and `scatter` are collectives of tensors over several places.

namespace devplace::detail {

[[noreturn, gnu::noinline]] inline void throw_no_such_index(const char* operation, std::int64_t index,
                                                            std::size_t size) {
  throw argument_error({operation, ": there is no index ", index, " along an axis of ", size,
                        " elements; indices count from 0, and none is negative."});
}

/// Index functor: result[o, j, i] = x[o, indices[o, j, i], i].
template <class T, class Index> struct taken_elements {
  T* result;
  const T* x;
  const Index* indices;
  std::size_t count, size, inner;  // `count` indices along the axis of the result, `size` of x

  DEVPLACE_HD void operator()(std::size_t i) const {
    const auto index = static_cast<std::int64_t>(indices[i]);
    if (static_cast<std::uint64_t>(index) >= size) {
      DEVPLACE_IF_HOST(throw_no_such_index("take_along", index, size);)
      result[i] = no_element<T>();
    } else {
      result[i] = x[(i / (count * inner) * size + static_cast<std::size_t>(index)) * inner + i % inner];
    }
  }
};

/// Index functor over [o, i]: y[o, indices[o, j, i], i] += values[o, j, i] for j = 0, 1, ... in order.
template <class T, class Index> struct added_elements {
  T* y;
  const Index* indices;
  const T* values;
  std::size_t count, size, inner;

  DEVPLACE_HD void operator()(std::size_t lane) const {
    const std::size_t outer = lane / inner, column = lane % inner;
    T* const to = y + outer * size * inner + column;
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t i = (outer * count + j) * inner + column;
      const auto index = static_cast<std::int64_t>(indices[i]);
      if (static_cast<std::uint64_t>(index) < size) {
        T& sum = to[static_cast<std::size_t>(index) * inner];
        sum = static_cast<T>(sum + values[i]);
      } else {
        DEVPLACE_IF_HOST(throw_no_such_index("add_along", index, size);)
        for (std::size_t k = 0; k < size; ++k) to[k * inner] = no_element<T>();
        return;
      }
    }
  }
  /// Computes element k of y alone, with the same bits, on a device that has more threads than there are [o, i].
  DEVPLACE_DEVICE void element(std::size_t k) const {
    const std::size_t outer = k / inner / size, target = k / inner % size;
    T sum = y[k];
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t i = (outer * count + j) * inner + k % inner;
      const auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(indices[i]));
      if (index == target) sum = static_cast<T>(sum + values[i]);
      if (index < size) continue;
      sum = no_element<T>();
      break;
    }
    y[k] = sum;
  }
};

/// Whether indices I choose elements of X along axis N; if not, an assertion fails.
template <std::size_t N, class X, class I> constexpr bool can_choose_along() {
  if constexpr (takes_on_one_place<I>() && has_axis<X, N>()) {
    constexpr bool together = on_one_device<X, I>, whole = std::is_integral_v<operand_element_t<I>>,
                   fits = joins_along<N, operand_extents_t<X>, operand_extents_t<I>>;
    static_assert(
        together,
        "devplace: take_along, add_along: the operands live on different places; move one with to<on<...>>(x).");
    static_assert(
        whole,
        "devplace: take_along, add_along: the indices must be integers, int64, int32 or uint8; convert them with "
        "cast<std::int64_t>(x).");
    static_assert(fits,
                  "devplace: take_along, add_along: the indices must have the operand's extents along all other axes.");
    return together && whole && fits;
  } else {
    return false;
  }
}

/// Throws shape_error unless all sizes except that of axis N agree.
template <std::size_t N, class X> void require_same_other_extents(const char* operation, const X& x, const auto& i) {
  if (!(with_dynamic_axis<X, N>::with(i.extent(N), x) == i))
    throw_other_extents(operation, "the operand", sizes_of(x), "the indices, apart from their axis,", sizes_of(i));
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y[i, j, k] = x[i, indices[i, j, k], k] for axis 1, as numpy.take_along_axis and torch.gather: for example the
/// elements that argsort orders. `indices` has the rank of x, and x's extents except along the axis; the result, a new
/// tensor, has the extents of `indices`. An index that is negative or past the end throws argument_error; on simulated
/// devices, the next call that waits throws it; on CUDA devices, the element becomes NaN, or the lowest number of an
/// integer type.
template <detail::accepted_argument From, detail::accepted_argument At, std::size_t N>
auto take_along(From&& x, At&& indices, axis<N>) {
  using X = detail::evaluated_value_t<From>;
  using I = detail::evaluated_value_t<At>;
  if constexpr (detail::check_unnamed<From, At>() && detail::can_choose_along<N, X, I>()) {
    using value = detail::operand_element_t<X>;
    using index = detail::operand_element_t<I>;
    const auto& elements = evaluated(x);
    const auto& positions = evaluated(indices);
    detail::require_one_device("take_along", detail::as_any_view(elements), detail::as_any_view(positions));
    detail::require_same_other_extents<N>("take_along", x.extents(), indices.extents());
    detail::result_beside_t<X, value, detail::operand_extents_t<I>> result(indices.extents());
    const auto from = detail::packed(detail::as_any_view(elements));
    const auto chosen = detail::packed(detail::as_any_view(positions));
    const detail::reduction_extents sizes = detail::around_axis<N>(from.view.extents());
    detail::for_each_index<detail::operand_backend_t<X>>(
        from.view.ordinal(), result.size(), detail::elementwise_grain,
        detail::taken_elements<value, index>{detail::raw_data(result), detail::raw_data(from.view),
                                             detail::raw_data(chosen.view), indices.extents().extent(N), sizes.count,
                                             sizes.inner});
    return result;
  } else {
    return detail::refusal{};
  }
}

/// y[i, indices[i, j, k], k] += values[i, j, k] for axis 1, as torch's scatter_add_. Elements with equal indices are
/// added in ascending order of j, so the bits are the same on every place and for every number of threads. `indices`
/// and `values` have equal extents, which are y's except along the axis, and share no elements with y (argument_error).
/// Wrong indices throw as in take_along; on CUDA devices, all elements of y along the axis become NaN or the lowest
/// number.
template <detail::accepted_argument Y, detail::accepted_argument At, detail::accepted_argument Values, std::size_t N>
void add_along(Y&& y, At&& indices, Values&& values, axis<N>) {
  using I = detail::evaluated_value_t<At>;
  using V = detail::evaluated_value_t<Values>;
  if constexpr (detail::check_unnamed<At, Values>() && detail::can_choose_along<N, Y, I>() &&
                detail::takes_on_one_place<V>()) {
    using value = detail::operand_element_t<Y>;
    constexpr bool written = detail::writable<Y>, same = std::is_same_v<value, detail::operand_element_t<V>>,
                   fits = detail::compatible<detail::operand_extents_t<I>, detail::operand_extents_t<V>>,
                   together = detail::on_one_device<Y, V>;
    static_assert(written, "devplace: add_along: the elements of y are const; pass a tensor or view to write to.");
    static_assert(same, "devplace: add_along: y and the values have different element types; convert with cast<T>(x).");
    static_assert(fits, "devplace: add_along: the values must have the extents of the indices.");
    static_assert(together,
                  "devplace: add_along: the operands live on different places; move one with to<on<...>>(x).");
    if constexpr (written && same && fits && together) {
      const auto to = detail::as_view(y);
      const auto& positions = evaluated(indices);
      const auto& summands = evaluated(values);
      const auto chosen = detail::packed(detail::as_any_view(positions));
      const auto added = detail::packed(detail::as_any_view(summands));
      detail::require_one_device("add_along", to, chosen.view, added.view);
      detail::require_same_other_extents<N>("add_along", to.extents(), indices.extents());
      detail::require_same_extents("add_along", "the indices", chosen.view, "the values", added.view);
      detail::require_apart("add_along", to, chosen.view, false);
      detail::require_apart("add_along", to, added.view, false);
      const detail::reduction_extents sizes = detail::around_axis<N>(to.extents());
      const std::size_t count = indices.extents().extent(N);
      if (sizes.count == 0 && chosen.view.size() != 0) detail::throw_no_such_index("add_along", 0, 0);
      detail::for_each_index<detail::operand_backend_t<Y>>(
          to.ordinal(), sizes.outer * sizes.inner, 1 + detail::elementwise_grain / (count + 1),
          detail::added_elements<value, detail::operand_element_t<I>>{
              detail::raw_data(to), detail::raw_data(chosen.view), detail::raw_data(added.view), count, sizes.count,
              sizes.inner});
    }
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(take_along)
