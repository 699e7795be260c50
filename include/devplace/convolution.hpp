// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers of images and signals: convolutions, poolings and normalisations of channels. Not part of all.hpp or nn.hpp,
// because the CPU's code for each instruction set takes compile time in every file that includes these layers.
#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/conv1d.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/max_pool1d.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/upsample.hpp>

// The code that all convolutional networks share, for component compiled.
namespace devplace {

#define DEVPLACE_LOOPS_OF(T)                               \
  DEVPLACE_COMPILED_LOOP(max_pool_functor<T>)              \
  DEVPLACE_COMPILED_LOOP(scale_channels_functor<T, float>) \
  DEVPLACE_COMPILED_LOOP(batch_norm_gradient_functor<T, float>)
DEVPLACE_LOOPS_OF(float)
DEVPLACE_LOOPS_OF(bf16)
DEVPLACE_LOOPS_OF(half)
#undef DEVPLACE_LOOPS_OF
DEVPLACE_COMPILED_LOOP(max_pool_gradient_functor<float>)

DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_convolution<float, backend::cpu>)
DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_convolution<mixed<bf16>, backend::cpu>)
DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_convolution<mixed<half>, backend::cpu>)
DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_batch_norm<float, backend::cpu, false>)
DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_batch_norm<mixed<bf16>, backend::cpu, false>)
DEVPLACE_COMPILED_PLAIN(struct nn::detail::passes_of_batch_norm<mixed<half>, backend::cpu, false>)

}  // namespace devplace
