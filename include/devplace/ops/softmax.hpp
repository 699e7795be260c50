// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::detail {

// Row functors: each index is a row. Elements of 16 bits are computed in float and rounded once.

template <class T> struct softmax_row {
  static constexpr bool computes_much = true;

  T* y;
  const T* x;
  std::size_t n;

  DEVPLACE_HD void operator()(std::size_t row) const {
    T* const out = y + row * n;
    const T* const in = x + row * n;
    using value = computed_t<T>;
    const value max = row_max<value>(in, n);
    if constexpr (std::is_same_v<T, value>) {
      const value scale = static_cast<value>(1 / row_exponentials<value>(out, in, max, n));
      independent_loop(0, n, [=](std::size_t c) { out[c] *= scale; });
    } else {
      const value scale = static_cast<value>(1 / row_exponentials<value>(nullptr, in, max, n));
      independent_loop(0, n, [=](std::size_t c) {
        out[c] = static_cast<T>(fast_exp<value>(static_cast<value>(in[c]) - max) * scale);
      });
    }
  }
};

template <class T> struct log_softmax_row {
  static constexpr bool computes_much = true, range_needs_vectors = true;

  T* y;
  const T* x;
  std::size_t n;

  DEVPLACE_HD void operator()(std::size_t row) const { rows(row, row + 1); }

  /// The rows of a CPU loop, several at a time, because each maximum, sum and logarithm waits for the one before.
  void range(std::size_t begin, std::size_t end) const {
    for (; begin < end; begin += together) rows(begin, end - begin < together ? end : begin + together);
  }

 private:
  static constexpr std::size_t together = 8;

  DEVPLACE_HD void rows(std::size_t begin, std::size_t end) const {
    using value = computed_t<T>;
    value max[together];
    double log_sum[together];
    for (std::size_t row = begin; row != end; ++row) max[row - begin] = row_max<value>(x + row * n, n);
    for (std::size_t row = begin; row != end; ++row)
      log_sum[row - begin] = row_exponentials<value>(nullptr, x + row * n, max[row - begin], n);
    for (std::size_t row = begin; row != end; ++row) log_sum[row - begin] = std::log(log_sum[row - begin]);
    for (std::size_t row = begin; row != end; ++row) {
      T* const out = y + row * n;
      const T* const in = x + row * n;
      independent_loop(0, n,
                       [=, of_row = max[row - begin], log = static_cast<value>(log_sum[row - begin])](std::size_t c) {
                         out[c] = static_cast<T>(DEVPLACE_AS_WRITTEN(static_cast<value>(in[c]) - of_row) - log);
                       });
    }
  }
};

template <class T> struct softmax_backward_row {
  static constexpr bool computes_much = true;

  T* dx;
  const T* y;
  const T* dy;
  std::size_t n;

  DEVPLACE_HD void operator()(std::size_t row) const {
    T* const out = dx + row * n;
    const T* const probability = y + row * n;
    const T* const gradient = dy + row * n;
    using value = computed_t<T>;
    const value mean = static_cast<value>(row_sum<double>(
        n, [=](std::size_t c) { return static_cast<double>(gradient[c]) * static_cast<value>(probability[c]); }));
    independent_loop(0, n, [=](std::size_t c) {
      out[c] = static_cast<T>(static_cast<value>(probability[c]) * (static_cast<value>(gradient[c]) - mean));
    });
  }
};

template <class T> struct log_softmax_backward_row {
  static constexpr bool computes_much = true;

  T* dx;
  const T* y;
  const T* dy;
  std::size_t n;

  DEVPLACE_HD void operator()(std::size_t row) const {
    T* const out = dx + row * n;
    const T* const log_probability = y + row * n;
    const T* const gradient = dy + row * n;
    using value = computed_t<T>;
    const value sum =
        static_cast<value>(row_sum<value>(n, [gradient](std::size_t c) { return static_cast<value>(gradient[c]); }));
    independent_loop(0, n, [=](std::size_t c) {
      out[c] = static_cast<T>(static_cast<value>(gradient[c]) -
                              fast_exp<value>(static_cast<value>(log_probability[c])) * sum);
    });
  }
};

}  // namespace devplace::detail
DEVPLACE_UNFUSED_END

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Applies `Row` to every row of the result y and its operands.
template <template <class> class Row, class Y, class... X>
auto for_rows_of(const char* operation, const Y& y, const X&... x) {
  constexpr bool together = on_one_device<Y, X...>, written = writable<Y>,
                 same = (std::is_same_v<operand_element_t<Y>, operand_element_t<X>> && ...),
                 floating = is_floating_or_half_precision<operand_element_t<Y>>,
                 fits = (compatible<operand_extents_t<Y>, operand_extents_t<X>> && ...);
  static_assert(
      together,
      "devplace: softmax: the operands live on different places; move them to one with to<on<...>>(x) first.");
  static_assert(written, "devplace: softmax: the result's elements are const; pass a tensor or view to write to.");
  static_assert(same, "devplace: softmax: the operands have different element types; convert with cast<T>(x) first.");
  static_assert(floating,
                "devplace: softmax: the elements must be floating-point numbers; convert with cast<float>(x) first.");
  static_assert(fits, "devplace: softmax: result and operands must have the same extents.");
  if constexpr (together && written && same && floating && fits) {
    const auto result = as_any_view(y);
    require_one_device(operation, result, as_any_view(x)...);
    (require_same_extents(operation, "the result", result, "an operand", as_any_view(x)), ...);
    if constexpr (!operand_view_t<Y>::is_row_major) {
      const auto rows = packed_beside(result);
      for_rows_of<Row>(operation, rows.view, x...);
      assign(result.erased(), rows.view.erased());
    } else {
      const row_shape shape = rows_of(result.extents());
      constexpr std::size_t columns = operand_extents_t<Y>::static_extent(operand_extents_t<Y>::rank - 1);
      const auto address_of = [&](const auto& operand) {
        require_apart(operation, result, operand, true);
        return raw_data(operand);
      };
      for_each_row<operand_backend_t<Y>, columns>(
          result.ordinal(), shape.rows, shape.columns, row_grain(shape.columns, 8),
          Row<operand_element_t<Y>>{raw_data(result), address_of(packed(as_any_view(x)).view)..., shape.columns});
    }
  }
}

/// Applies `Row` to every row of the operand, into a new tensor that is distributed like the operand.
template <template <class> class Row, class Operand> auto with_rows_of(const char* operation, Operand&& operand) {
  using X = evaluated_value_t<Operand>;
  constexpr bool has_elements = tensor_like<X>;
  static_assert(has_elements,
                "devplace: softmax: the operand must be a tensor, view or expression; wrap(v, extents(n)) makes a view "
                "of a vector.");
  if constexpr (has_elements && check_unnamed<Operand>()) {
    const auto& x = evaluated(operand);
    if constexpr (distributed_tensor<X>) {
      using extents_type = typename X::extents_type;
      static_assert(extents_type::rank > 0, "devplace: this operation works along an axis; a scalar has none.");
      using rule = row_function_result<extents_type::rank - 1, typename X::placement_type>;
      if constexpr (common_result<rule>::value && extents_type::rank > 0) {
        auto y = make_like<typename X::value_type, typename X::placement_type>(x.extents(), x);
        for (std::size_t k = 0; k != x.places; ++k) for_rows_of<Row>(operation, y.only_on(k), x.local(k));
        return y;
      } else {
        return refusal{};
      }
    } else {
      result_like_t<X> y(x.extents());
      for_rows_of<Row>(operation, y.view(), as_any_view(x));
      return y;
    }
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y = softmax(x) along the last axis: exp(x_c) / sum of exp(x_k), computed from x minus its row's maximum.
/// Shapes: y and x the same, any rank above 0; y may be x, but a row-major y must not share only some elements with x
/// (argument_error). On one place, in the order of its current stream. Rows with NaN or +infinity, and rows of
/// -infinity only, give NaN. Different run-time extents throw shape_error. Views with strides are processed through
/// row-major temporaries.
template <tensor_like Y, tensor_like X> void softmax_into(Y&& y, const X& x) {
  detail::for_rows_of<detail::softmax_row>("softmax", detail::as_any_view(y), detail::as_any_view(x));
}

/// y = log(softmax(x)) along the last axis, without cancellation. Other rules are those of softmax_into.
template <tensor_like Y, tensor_like X> void log_softmax_into(Y&& y, const X& x) {
  detail::for_rows_of<detail::log_softmax_row>("log_softmax", detail::as_any_view(y), detail::as_any_view(x));
}

/// dx = y * (dy - sum of dy * y) along the last axis: the gradient through y = softmax(x). dx may be dy or y.
template <tensor_like DX, tensor_like Y, tensor_like DY> void softmax_backward_into(DX&& dx, const Y& y, const DY& dy) {
  detail::for_rows_of<detail::softmax_backward_row>("softmax_backward", detail::as_any_view(dx), detail::as_any_view(y),
                                                    detail::as_any_view(dy));
}

/// dx = dy - exp(y) * sum of dy along the last axis: the gradient through y = log_softmax(x). dx may be dy or y.
void log_softmax_backward_into(tensor_like auto&& dx, const tensor_like auto& y, const tensor_like auto& dy) {
  detail::for_rows_of<detail::log_softmax_backward_row>("log_softmax_backward", detail::as_any_view(dx),
                                                        detail::as_any_view(y), detail::as_any_view(dy));
}

/// softmax(x) along the last axis, as a new tensor that is distributed like x: on one place, replicated, or split along
/// another axis. x is a tensor, a view, or an expression, which is evaluated first. Asynchronous, in the order of each
/// place's current stream. See softmax_into.
template <detail::accepted_argument X> auto softmax(X&& x) {
  return detail::with_rows_of<detail::softmax_row>("softmax", std::forward<X>(x));
}

/// log(softmax(x)) as a new tensor. Other rules are those of softmax. See log_softmax_into.
template <detail::accepted_argument X> auto log_softmax(X&& x) {
  return detail::with_rows_of<detail::log_softmax_row>("log_softmax", std::forward<X>(x));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(softmax)
