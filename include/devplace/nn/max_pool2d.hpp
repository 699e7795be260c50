// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The largest element of each window of each channel, as torch.nn.MaxPool2d: `max_pool2d<kernel<3>, stride<2>,
/// padding<1>>` over samples [C, H, W]. By default the stride is the window's extents; windows that do not fit are left
/// out. Padding is never the largest element. The gradient goes to the first of equal elements; NaN is larger than any
/// number.
template <class... Options> struct max_pool2d : detail::max_pooling<2, Options...> {};

}  // namespace devplace::nn
