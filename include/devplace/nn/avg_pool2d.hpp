// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The mean of each window of each channel, as torch.nn.AvgPool2d: `avg_pool2d<kernel<3>, stride<2>, padding<1>>` over
/// samples [C, H, W]. The stride is the window's extents by default; windows that do not fit are left out. Padding
/// counts as zeros, so that each sum is divided by the number of the window's elements (PyTorch's count_include_pad).
template <class... Options>
struct avg_pool2d : detail::pooling_layer<Options...> {
  static_assert(detail::window_options<true, Options...>::dilations == 0, "devplace: avg_pool2d has no dilation.");
  /// Members that layer_for requires.
  ///@{
  static constexpr keep keeps = keep::nothing;

  template <class Call>
  static void forward(const Call& c) {
    constexpr auto s = avg_pool2d::template shape<Call>;
    using functor = devplace::detail::average_pool_functor<typename Call::value_type>;
    avg_pool2d::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call>
  static void backward(const Call& c) {
    constexpr auto s = avg_pool2d::template shape<Call>;
    using functor = devplace::detail::average_pool_gradient_functor<typename Call::value_type>;
    avg_pool2d::run(c, s.plane(), functor{s, c.output_gradient.data(), c.input_gradient.data()});
  }
  ///@}
};

}  // namespace devplace::nn
