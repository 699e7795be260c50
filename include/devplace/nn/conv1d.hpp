// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/convolution_layer.hpp>

namespace devplace::nn {

/// A convolution over one axis, as torch.nn.Conv1d: samples [In, L] become [Out, L']. `weight` is [Out, In / groups,
/// kernel] and `bias` [Out]. Other rules are those of conv2d; options have one number: `conv1d<8, 16, kernel<5>>`.
template <std::size_t In, std::size_t Out, class... Options>
struct conv1d : detail::convolution_layer<1, In, Out, Options...> {};

}  // namespace devplace::nn
