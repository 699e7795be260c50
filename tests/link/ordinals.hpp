// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "link/training.hpp"

/// Storage, an expression, a product and a training step on each of the devices. What the ordinals may cost is a thin
/// shell for each; no kernel and no large function may be compiled once more for another ordinal.
namespace {

namespace dp = devplace;

template <int I>
float use_device() {
  using where = dp::on<dp::cuda<I>>;
  dp::tensor<float, dp::extents<4, 4>, where> a(dp::extents<4, 4>{}), b(dp::extents<4, 4>{});
  dp::uniform_into(a, dp::seed{1}, 0, -1, 1);
  b = dp::relu(a * 2.0f + a);
  auto c = dp::matmul(a, b);
  auto d = dp::softmax(c);
  return dp::to<dp::on<dp::cpu>>(dp::sum(d))() + training::losses<where>().back();
}

template <int... I>
float use_devices() {
  return (0.0f + ... + use_device<I>());
}

}  // namespace
