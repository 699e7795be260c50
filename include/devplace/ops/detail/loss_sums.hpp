// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::detail {

/// A row's contribution to the sums of a loss.
struct loss_term {
  double loss;
  double weight;
};

/// Stores the sums, then calls `then(0)`.
template <class T, class Then> struct loss_reducer {
  using accumulator = loss_term;
  static constexpr bool reduces_all = true;
  T* sums;
  Then then;

  DEVPLACE_HD static constexpr accumulator identity() { return {0, 0}; }
  DEVPLACE_HD static constexpr void add(accumulator& a, loss_term term, std::size_t) { merge(a, term); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, loss_term b) {
    a.loss += b.loss;
    a.weight += b.weight;
  }
  DEVPLACE_HD void store(std::size_t, accumulator a) const {
    sums[0] = static_cast<T>(a.loss);
    sums[1] = static_cast<T>(a.weight);
    then(0);
  }
};

/// Adds `terms(row)` of all rows: sums[0] = sum of the losses, sums[1] = sum of the weights. Then calls `then(0)`.
template <class Backend, class T, class Terms, class Then = no_operation>
void sum_losses(int ordinal, std::size_t rows, T* sums, const Terms& terms, const Then& then = {}) {
  reduce<Backend>(ordinal, reduction_plan{1, rows, 1, terms, loss_reducer<T, Then>{sums, then}});
}

template <class T> struct loss_result {
  T* result;
  const T* sums;
  bool divide;
  DEVPLACE_HD void operator()(std::size_t) const {
    *result = without_sign_of_nan(divide ? sums[0] / sums[1] : sums[0]);
  }
};

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Memory for a loss that is returned as a value, on operand X's place.
template <class X, class T = operand_element_t<X>> struct loss_workspace {
  loss_workspace(const char* operation, const X& x, reduction mode)
      : sums(extents<2>{}),
        row_losses(extents<dyn>(x.extent(0))),
        no_gradient(nullptr, x.extents(), as_view(x).device()) {
    if (mode != reduction::mean && mode != reduction::sum)
      throw argument_error(
          {operation, ": a loss is reduced by reduction::mean or reduction::sum, not by ", reduction_name(mode), "."});
  }

  auto result(reduction mode) {
    result_beside_t<X, T, extents<>> value(extents<>{});
    for_each_index<operand_backend_t<X>>(as_view(value).ordinal(), 1, 1,
                                         loss_result<T>{raw_data(value), raw_data(sums), mode == reduction::mean});
    return value;
  }

  result_beside_t<X, T, extents<2>> sums;
  result_beside_t<X, T, extents<dyn>> row_losses;
  view<T, operand_extents_t<X>, operand_placement_t<X>> no_gradient;  ///< null: the gradient is not computed
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
