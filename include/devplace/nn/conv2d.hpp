// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/convolution_layer.hpp>

namespace devplace::nn {

/// A convolution (cross-correlation) of `In` channels to `Out`, as torch.nn.Conv2d: samples [In, H, W] become [Out, H',
/// W'] with H' = (H + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down, and W' likewise. `weight` is
/// [Out, In / groups, kernel rows, kernel columns] and `bias` [Out], both initialised uniformly in [-1, 1] / sqrt(In /
/// groups * kernel rows * kernel columns).
///
/// Options, in any order: `kernel<3>`, which is needed, `stride<2>`, `padding<1>`, `dilation<2>`, `groups<4>`,
/// `no_bias`. With two numbers they are those of rows and columns, `kernel<3, 5>`.
///
/// It is computed as matrix products, on the CPU by the built-in engine with the patches read from the image where they
/// are needed, on a GPU by cuBLASLt with the patches of a few samples at a time in a workspace. A relu after it is
/// fused into the same pass.
template <std::size_t In, std::size_t Out, class... Options>
struct conv2d : detail::convolution_layer<2, In, Out, Options...> {};

}  // namespace devplace::nn
