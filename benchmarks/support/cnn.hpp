// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/convolution.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>

// The network of examples/cnn.cpp.
namespace devplace::bench {

template <std::size_t In, std::size_t Out, std::size_t Stride = 1>
using conv = nn::conv2d<In, Out, nn::kernel<3>, nn::stride<Stride>, nn::padding<1>, nn::no_bias>;

template <std::size_t C>
using same_size =
    nn::sequential<nn::residual<conv<C, C>, nn::batch_norm<C>, nn::relu, conv<C, C>, nn::batch_norm<C>>, nn::relu>;

template <std::size_t In, std::size_t Out>
using half_size = nn::sequential<
    nn::residual<nn::projected_by<nn::conv2d<In, Out, nn::kernel<1>, nn::stride<2>, nn::no_bias>, nn::batch_norm<Out>>,
                 conv<In, Out, 2>, nn::batch_norm<Out>, nn::relu, conv<Out, Out>, nn::batch_norm<Out>>,
    nn::relu>;

using cnn =
    nn::sequential<nn::input<1, 28, 28>, conv<1, 16>, nn::batch_norm<16>, nn::relu, nn::max_pool2d<nn::kernel<2>>,
                   same_size<16>, half_size<16, 32>, same_size<32>, nn::global_average_pool, nn::linear<32, 10>>;

}  // namespace devplace::bench
