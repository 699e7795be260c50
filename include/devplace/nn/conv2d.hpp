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
/// Options, in any order: `kernel<3>`, which is required, `stride<2>`, `padding<1>`, `dilation<2>`, `groups<4>`,
/// `no_bias`. Two numbers apply to rows and columns: `kernel<3, 5>`.
///
/// Computed as matrix products: on the CPU the built-in engine reads patches directly from the image; on a GPU cuBLASLt
/// reads the patches of a few samples at a time from a workspace. A following relu is fused into the same pass.
template <std::size_t In, std::size_t Out, class... Options>
struct conv2d : detail::convolution_layer<2, In, Out, Options...> {};

}  // namespace devplace::nn
