// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

/// Number of rows along the last axis; 1 for a scalar, which losses reject by their own messages.
template <class Array> std::size_t row_count(const Array& x) {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis + 1 < Array::rank; ++axis) count *= x.extent(axis);
  return count;
}

/// Requires labels [n, ...] for an output [n, ..., classes]; throws shape_error for other labels. Returns `auto`, so
/// that compilers instantiate the function where it is called and show the user's line.
template <class Output, class Labels>
auto require_label_of_each_row(const char* loss, const Output& output, const Labels& labels) {
  using rows = devplace::detail::extents_without_t<typename Output::extents_type, Output::rank - 1>;
  constexpr bool may_fit = devplace::detail::compatible<rows, typename Labels::extents_type>;
  static_assert(may_fit,
                "devplace: cross_entropy and nll take labels with the extents of the output without its last axis, the "
                "classes; if the classes are the channels of images, put nn::permute<1, 2, 0> behind the "
                "network's layers.");
  bool fits = true;
  for (std::size_t axis = 0; axis != Labels::rank; ++axis) fits &= labels.extent(axis) == output.extent(axis);
  if (!fits)
    throw shape_error({loss, ": the output is ", devplace::detail::to_string(output.extents()), " and labels are ",
                       devplace::detail::to_string(labels.extents()),
                       "; labels have the output's extents without the last one, the number of classes."});
}

/// Views a batch as a matrix: merges all axes but the last into rows.
template <class View> auto rows(const View& x) {
  constexpr std::size_t columns = View::extents_type::static_extent(View::rank - 1);
  if constexpr (columns == dyn)
    return x.reshape(extents<dyn, dyn>{row_count(x), x.extent(View::rank - 1)});
  else
    return x.reshape(extents<dyn, columns>{row_count(x)});
}

/// Views a row-major batch as one axis, so that elementwise expressions compile once for all sizes. The extents are
/// made from their bits, since the elements exist.
template <class View> auto flat(const View& x) {
  return view<typename View::element_type, extents<dyn>, typename View::placement_type>(
      x.data(), std::bit_cast<extents<dyn>>(x.size()), x.device());
}

/// A view's elements in the type that layers compute with: float for elements of 16 bits.
template <class View> auto computed(const View& x) {
  if constexpr (floating_element<typename View::value_type>)
    return x;
  else
    return lazy(cast<float>(x));
}

/// Writes an expression of computed() elements to a view, rounded if the view's elements have 16 bits: of flat() views
/// of one size, each of which is `to` itself or shares no memory with it.
template <class View, class Expression> void assign_flat(const View& to, Expression&& expression) {
  using T = typename View::value_type;
  const auto run = [&](const auto& result) {
    devplace::detail::run_linear<typename View::backend_type>(to.ordinal(), to.data(), to.size(), result);
  };
  if constexpr (floating_element<T>)
    run(devplace::detail::without_lazy(std::as_const(expression)));
  else
    run(cast<T>(std::forward<Expression>(expression)));
}

/// to = column sums of x [rows, columns] + beta to. Sizes are run-time values, so that all layers share the code.
template <class Backend, class To, class X>
[[gnu::noinline]] void sum_columns(int ordinal, To* to, const X* x, std::size_t rows, std::size_t columns, To beta) {
  devplace::detail::reduce<Backend>(
      ordinal, devplace::detail::reduction_plan{1, rows, columns, devplace::detail::element_source<X>{x},
                                                devplace::detail::sum_reducer<X, To>{to, beta}});
}

}  // namespace devplace::nn::detail
