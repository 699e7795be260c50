// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/ops/matmul.hpp>

// Operations of convolutional layers, on contiguous arrays whose extents match by construction.

namespace devplace::op {

/// `run(ordinal, convolution_arguments<T>)`.
struct convolution {};

/// `run(ordinal, convolution_input_gradient_arguments<T>)`.
struct convolution_input_gradient {};

/// `run(ordinal, convolution_weight_gradient_arguments<T>)`.
struct convolution_weight_gradient {};

/// `run(ordinal, convolution_bias_gradient_arguments<T>)`.
struct convolution_bias_gradient {};

}  // namespace devplace::op

#include <devplace/backend/cpu/convolution.hpp>
#include DEVPLACE_BACKENDS(convolution)
