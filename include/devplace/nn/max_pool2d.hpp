// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The largest element of each window of each channel, as torch.nn.MaxPool2d: `max_pool2d<kernel<3>, stride<2>,
/// padding<1>>` over samples [C, H, W]. The stride is the window's extents by default; windows that do not fit are left
/// out. Padding is never the largest. The gradient goes to the first of equal elements; a NaN is larger than any
/// number.
template <class... Options>
struct max_pool2d : detail::pooling_layer<Options...> {
  /// Members that layer_for requires.
  ///@{
  static constexpr keep keeps = keep::input;

  template <class Call>
  static void forward(const Call& c) {
    constexpr auto s = max_pool2d::template shape<Call>;
    using functor = devplace::detail::max_pool_functor<typename Call::value_type>;
    max_pool2d::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call>
  static void backward(const Call& c) {
    constexpr auto s = max_pool2d::template shape<Call>;
    using functor = devplace::detail::max_pool_gradient_functor<typename Call::value_type>;
    max_pool2d::run(c, s.plane(), functor{s, c.input.data(), c.output_gradient.data(), c.input_gradient.data()});
  }
  ///@}
};

}  // namespace devplace::nn
