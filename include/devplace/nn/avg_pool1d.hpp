// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The mean of each window along a series, per channel, as torch.nn.AvgPool1d: `avg_pool1d<kernel<3>, stride<2>,
/// padding<1>>` over samples [C, L]. Other rules are those of avg_pool2d; options have one number.
template <class... Options> struct avg_pool1d : detail::average_pooling<1, Options...> {};

}  // namespace devplace::nn
