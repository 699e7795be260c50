// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/detail/pooling_layer.hpp>

namespace devplace::nn {

/// The largest element of each window along a series, per channel, as torch.nn.MaxPool1d: `max_pool1d<kernel<3>,
/// stride<2>, padding<1>>` over samples [C, L]. Other rules are those of max_pool2d; options have one number.
template <class... Options> struct max_pool1d : detail::max_pooling<1, Options...> {};

}  // namespace devplace::nn
