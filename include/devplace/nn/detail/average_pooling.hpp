// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn::detail {

template <std::size_t Axes, class... Options> struct average_pooling : pooling_layer<Axes, Options...> {
  static_assert(window_options<true, Options...>::dilations == 0,
                "devplace: avg_pool2d and avg_pool1d have no dilation.");
  static constexpr keep keeps = keep::nothing;

  template <class Call> static void forward(const Call& c) {
    constexpr auto s = average_pooling::template shape<Call>;
    using functor = devplace::detail::average_pool_functor<typename Call::value_type>;
    average_pooling::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    constexpr auto s = average_pooling::template shape<Call>;
    using functor = devplace::detail::average_pool_gradient_functor<typename Call::value_type>;
    average_pooling::run(c, s.plane(), functor{s, c.output_gradient.data(), c.input_gradient.data()});
  }
};

}  // namespace devplace::nn::detail
