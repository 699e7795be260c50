// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/ops/detail/scan_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Number of all totals: of chunks of the elements, of chunks of these totals, and so on.
constexpr std::size_t scan_workspace(scan_extents extents) {
  std::size_t all = 0;
  for (; extents.chunks > 1; extents = extents.of_chunks()) all += extents.all_chunks();
  return all;
}

/// Scans in the order of scan_plan.hpp; `workspace` has scan_workspace(extents) numbers.
template <bool Product, bool Inclusive, class Backend, class T, class Accumulator>
void scan_in_chunks(int ordinal, const T* x, const scan_extents& extents, sum_result_t<T>* y, Accumulator* workspace) {
  constexpr std::size_t grain = 512;
  const std::size_t chunks = extents.all_chunks();
  if (extents.chunks > 1) {
    for_each_index<Backend>(ordinal, chunks, grain, chunk_totals<T, Product>{x, extents, workspace});
    scan_in_chunks<Product, false, Backend>(ordinal, static_cast<const Accumulator*>(workspace), extents.of_chunks(),
                                            workspace, workspace + chunks);
  }
  for_each_index<Backend>(ordinal, chunks, grain,
                          chunk_scan<T, Product, Inclusive>{x, extents, extents.chunks > 1 ? workspace : nullptr, y});
}

/// Whether cumulative sums of X along an axis can be written to Y; if not, an assertion fails.
template <class Y, class X, class... Axis> constexpr bool can_scan() {
  if constexpr (takes_on_one_place<Y, X>()) {
    constexpr std::size_t rank = operand_extents_t<X>::rank;
    constexpr bool together = on_one_device<Y, X>, written = writable<Y>,
                   same = std::is_same_v<operand_element_t<Y>, sum_result_t<operand_element_t<X>>>,
                   one_axis = sizeof...(Axis) == 1 || (sizeof...(Axis) == 0 && rank == 1),
                   exists = axes_exist<rank, Axis...>, fits = compatible<operand_extents_t<Y>, operand_extents_t<X>>;
    static_assert(
        together,
        "devplace: cumsum, cumprod: result and operand live on different places; move one with to<on<...>>(x).");
    static_assert(written,
                  "devplace: cumsum, cumprod: the result's elements are const; pass a tensor or view to write to.");
    static_assert(same,
                  "devplace: cumsum, cumprod: the result has the wrong element type: sums have the operand's type, or "
                  "int64 for integers.");
    static_assert(one_axis,
                  "devplace: cumsum, cumprod: name one axis, as in cumsum(x, axis<0>{}); for all elements in order, "
                  "reshape x to one axis first, as in cumsum(x.reshape(extents<6>{})).");
    static_assert(exists, "devplace: cumsum, cumprod: the axis does not exist; axes count from 0 to rank - 1.");
    static_assert(fits, "devplace: cumsum, cumprod: result and operand must have the same extents.");
    return together && written && same && one_axis && exists && fits;
  } else {
    return false;
  }
}

template <bool Product, class Y, class X, class... Axis>
auto scan_into(const char* operation, Y& y, const X& x, Axis... axis) {
  if constexpr (can_scan<Y, X, Axis...>()) {
    using value = operand_element_t<X>;
    const auto to = as_view(y);
    const auto from = as_view(x);
    using backend_type = operand_backend_t<X>;
    require_one_device(operation, to, from);
    require_same_extents(operation, "the result", to, "the operand", from);
    require_apart(operation, to, from, true);
    const auto e = reduction_extents_of(sizes_of(from.extents()), reduced_axes<operand_extents_t<X>::rank>(axis...));
    if (from.size() == 0) return;
    if constexpr (std::is_integral_v<value> && (!Product || scans_integers<backend_type>)) {
      constexpr bool rows = operand_extents_t<X>::rank > 1;
      if (e.inner == 1 && (e.outer == 1 || scans_integers<backend_type>))
        return dispatch<op::scan, backend_type>(
            from.ordinal(), scan_plan<value, Product, rows>{raw_data(from), raw_data(to), from.size(), e.count});
    }
    using accumulator = sum_accumulator_t<value>;
    const scan_extents extents{e.outer, e.count, e.inner};
    const memory_block workspace = allocate<backend_type>(from.ordinal(), scan_workspace(extents) * sizeof(accumulator),
                                                          memory_purpose::workspace);
    scan_in_chunks<Product, true, backend_type>(from.ordinal(), static_cast<const value*>(raw_data(from)), extents,
                                                raw_data(to), static_cast<accumulator*>(workspace.data()));
  }
}

template <bool Product, class Operand, class... Axis>
auto scanned(const char* operation, Operand&& operand, Axis... axis) {
  using X = evaluated_value_t<Operand>;
  if constexpr (check_unnamed<Operand>() && takes_on_one_place<X>()) {
    const auto& x = evaluated(operand);
    result_beside_t<X, sum_result_t<operand_element_t<X>>, operand_extents_t<X>> y(x.extents());
    scan_into<Product>(operation, y, x, axis...);
    return y;
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y[i] = x[0] + ... + x[i] along an axis, as torch.cumsum: `cumsum_into(y, x, axis<0>{})` or with a number; an array
/// of rank 1 needs no axis. Shapes: x and y equal. y has x's type for floating-point elements, int64 for integers; it
/// may be x, but not share only some elements with x (argument_error). In the order of the place's current stream.
/// Floating-point sums are accumulated in double in an order that depends only on the size, so the bits are the same on
/// every place. Integer sums are exact modulo 2^64; on CUDA devices, CUB computes them along the last axis. Scratch
/// memory is allocated on the place and counted as workspace. Throws shape_error for different run-time extents.
template <detail::accepted_argument Y, detail::accepted_argument X, axis_argument... Axis>
void cumsum_into(Y&& y, const X& x, Axis... axis) {
  detail::scan_into<false>("cumsum", y, x, axis...);
}

/// y[i] = x[0] * ... * x[i] along an axis, as torch.cumprod. Other rules are those of cumsum_into.
template <detail::accepted_argument Y, detail::accepted_argument X, axis_argument... Axis>
void cumprod_into(Y&& y, const X& x, Axis... axis) {
  detail::scan_into<true>("cumprod", y, x, axis...);
}

/// Cumulative sums of x along an axis as a new tensor on x's place. See cumsum_into.
template <detail::accepted_argument X, axis_argument... Axis> auto cumsum(X&& x, Axis... axis) {
  return detail::scanned<false>("cumsum", std::forward<X>(x), axis...);
}

/// Cumulative products of x along an axis as a new tensor on x's place. See cumprod_into.
template <detail::accepted_argument X, axis_argument... Axis> auto cumprod(X&& x, Axis... axis) {
  return detail::scanned<true>("cumprod", std::forward<X>(x), axis...);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/scan.hpp>
#include DEVPLACE_BACKENDS(scan)
