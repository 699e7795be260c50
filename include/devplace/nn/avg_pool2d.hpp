// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The mean of each window of each channel, as torch.nn.AvgPool2d: `avg_pool2d<kernel<3>, stride<2>, padding<1>>` over
/// samples [C, H, W]. By default the stride is the window's extents; windows that do not fit are left out. Padding
/// counts as zeros, and each sum is divided by the number of the window's elements (PyTorch's count_include_pad).
template <class... Options> struct avg_pool2d : detail::average_pooling<2, Options...> {};

}  // namespace devplace::nn
