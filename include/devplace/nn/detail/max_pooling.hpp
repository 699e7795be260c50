// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn::detail {

template <std::size_t Axes, class... Options> struct max_pooling : pooling_layer<Axes, Options...> {
  static constexpr keep keeps = keep::input;

  template <class Call> static void forward(const Call& c) {
    constexpr auto s = max_pooling::template shape<Call>;
    using functor = devplace::detail::max_pool_functor<typename Call::value_type>;
    max_pooling::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    constexpr auto s = max_pooling::template shape<Call>;
    using functor = devplace::detail::max_pool_gradient_functor<typename Call::value_type>;
    max_pooling::run(c, s.plane(), functor{s, c.input.data(), c.output_gradient.data(), c.input_gradient.data()});
  }
};

}  // namespace devplace::nn::detail
