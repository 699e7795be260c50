// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/convolution_layer.hpp>

namespace devplace::nn {

/// A convolution over one axis, as torch.nn.Conv1d: samples [In, L] become [Out, L']. `weight` is [Out, In / groups,
/// kernel] and `bias` [Out]. Everything else is as in conv2d; its options have one number, `conv1d<8, 16, kernel<5>>`.
template <std::size_t In, std::size_t Out, class... OPTION_TYPES_SUCH_AS_nn_kernel_3_OR_nn_no_bias>
struct conv1d : detail::convolution_layer<1, In, Out, OPTION_TYPES_SUCH_AS_nn_kernel_3_OR_nn_no_bias...> {};

}  // namespace devplace::nn
