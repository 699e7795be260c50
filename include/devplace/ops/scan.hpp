// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/scan_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Number of chunks of floating-point sums.
constexpr std::size_t scan_chunks(std::size_t size) { return divided_up(size, scan_chunk); }

/// Number of doubles for the sums of chunks, the sums of chunks of these sums, and so on.
constexpr std::size_t scan_workspace(std::size_t size) {
  std::size_t all = 0;
  while (size > scan_chunk) {
    size = scan_chunks(size);
    all += size;
  }
  return all;
}

/// Cumulative sums of n numbers in the order of scan_plan.hpp; `workspace` has scan_workspace(n) doubles.
template <bool Inclusive, class Backend, class T>
void scan_in_chunks(int ordinal, const T* x, std::size_t n, T* y, double* workspace) {
  constexpr std::size_t grain = 512;
  const std::size_t chunks = scan_chunks(n);
  if (chunks > 1) {
    for_each_index<Backend>(ordinal, chunks, grain, chunk_sums<T>{x, n, workspace});
    scan_in_chunks<false, Backend>(ordinal, static_cast<const double*>(workspace), chunks, workspace,
                                   workspace + chunks);
  }
  for_each_index<Backend>(ordinal, chunks, grain, chunk_scan<T, Inclusive>{x, n, chunks > 1 ? workspace : nullptr, y});
}

/// Whether cumulative sums of X can be written to Y; if not, an assertion fails.
template <class Y, class X> constexpr bool can_scan() {
  if constexpr (takes_on_one_place<Y, X>()) {
    constexpr bool together = on_one_device<Y, X>, written = writable<Y>,
                   same = std::is_same_v<operand_element_t<Y>, sum_result_t<operand_element_t<X>>>,
                   one_axis = operand_extents_t<X>::rank == 1,
                   fits = !one_axis || compatible<operand_extents_t<Y>, operand_extents_t<X>>;
    static_assert(together,
                  "devplace: cumsum: result and operand live on different places; move one with to<on<...>>(x).");
    static_assert(written, "devplace: cumsum: the result's elements are const; pass a tensor or view to write to.");
    static_assert(same,
                  "devplace: cumsum: the result has the wrong element type: sums have the operand's type, or int64 "
                  "for integers.");
    static_assert(one_axis,
                  "devplace: cumsum: the operand must have one axis: cumsum(x[i]) of a row, or "
                  "cumsum(x.reshape(extents<6>{})) of all elements in order.");
    static_assert(fits, "devplace: cumsum: result and operand must have the same extents.");
    return together && written && same && one_axis && fits;
  } else {
    return false;
  }
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y[i] = x[0] + ... + x[i], as torch.cumsum. Shapes: x and y equal, of rank 1. y has x's type for float and double,
/// int64 for integers; it may be x. In the order of the place's current stream. Floating-point sums are accumulated in
/// double in an order that depends only on the size, so the bits are the same on every place. Integer sums are exact
/// modulo 2^64; on CUDA devices, CUB computes them. Scratch memory is allocated on the place and counted as workspace.
/// Throws shape_error for different run-time extents, and for 2^31 or more integers on CUDA devices if the program is
/// built with a CUDA Toolkit before 13.0.
template <class Y, class X>
  requires(detail::accepted_argument<Y> && detail::accepted_argument<const X&>)
void cumsum_into(Y&& y, const X& x) {
  if constexpr (detail::can_scan<Y, X>()) {
    using value = detail::operand_element_t<X>;
    const auto to = detail::as_view(y);
    const auto from = detail::as_view(x);
    using backend_type = detail::operand_backend_t<X>;
    detail::require_one_device("cumsum", to, from);
    detail::require_same_extents("cumsum", "the result", to, "the operand", from);
    if (from.size() == 0) return;
    if constexpr (!std::is_integral_v<value>) {
      const detail::memory_block workspace = detail::allocate<backend_type>(
          from.ordinal(), detail::scan_workspace(from.size()) * sizeof(double), memory_purpose::workspace);
      detail::scan_in_chunks<true, backend_type>(from.ordinal(), detail::raw_data(from), from.size(),
                                                 detail::raw_data(to), static_cast<double*>(workspace.data()));
    } else {
      detail::dispatch<op::scan, backend_type>(
          from.ordinal(), detail::scan_plan<value>{detail::raw_data(from), detail::raw_data(to), from.size()});
    }
  }
}

/// Cumulative sums of x as a new tensor on x's place. See cumsum_into.
template <class X>
  requires detail::accepted_argument<const X&>
auto cumsum(const X& x) {
  if constexpr (detail::takes_on_one_place<X>()) {
    using value = detail::operand_element_t<X>;
    using result = detail::result_beside_t<X, detail::sum_result_t<value>, detail::operand_extents_t<X>>;
    if constexpr (detail::can_scan<result&, X>()) {
      result y(x.extents());
      cumsum_into(y, x);
      return y;
    } else {
      return detail::refusal{};
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/scan.hpp>
#include DEVPLACE_BACKENDS(scan)
