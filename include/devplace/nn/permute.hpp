// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn {

/// Reorders the axes of a sample: axis k of the result is axis Axes[k] of the input, counted from 0 without the batch's
/// axis. `permute<1, 2, 0>` turns [batch, C, H, W] into [batch, H, W, C], as x.permute(0, 2, 3, 1) in PyTorch, and
/// `permute<1, 0>` turns [batch, C, L] into [batch, L, C], with the channels last, where cross_entropy and nll read the
/// classes. Copies the elements.
template <std::size_t... Axes> struct permute {
 private:
  static constexpr std::size_t rank = sizeof...(Axes);
  static constexpr bool is_order = devplace::detail::is_order_of_axes<rank, Axes...>;
  static_assert(is_order,
                "devplace: permute names each axis of a sample once, counted from 0 without the batch's axis: "
                "permute<1, 2, 0> puts the first of three axes last.");

 public:
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::samples_of_rank<X, rank>;
  template <class X> using output = extents<takes<X>::type::static_extent(is_order ? Axes : 0)...>;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool gives_channels_first = false;

  static void forward(const auto& c) { write(c.output, c.input.permute(axis<0>{}, axis<Axes + 1>{}...)); }
  static void backward(const auto& c) {
    [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      write(c.input_gradient, c.output_gradient.permute(axis<0>{}, axis<position_of(Axis) + 1>{}...));
    }(std::make_index_sequence<rank>{});
  }
  ///@}

 private:
  static constexpr std::size_t position_of(std::size_t axis) {
    std::size_t position = 0, next = 0;
    ((position = Axes == axis ? next : position, ++next), ...);
    return position;
  }

  /// Assigns with run-time extents, so that the assignment compiles once for each rank.
  template <class T, class To, class Where, class From>
  static void write(const view<T, To, Where>& to, const view<const T, From, Where, strided>& from) {
    using sizes = dextents<rank + 1>;
    assign(view<T, sizes, Where>(to), view<const T, sizes, Where, strided>(from));
  }
};

}  // namespace devplace::nn
