// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <tuple>

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
  const dp::model<training::net, dp::on<dp::cpu>> source{dp::seed{1}};
  const auto replicas = dp::replicate<where>(source);
  const dp::tensor<float, dp::extents<dp::dyn, 6>, where> x(dp::extents<dp::dyn, 6>{4});
  const auto outputs = dp::parallel_apply(replicas, std::tie(x));
  dp::check_replicas(std::get<0>(replicas));
  return dp::to<dp::on<dp::cpu>>(dp::sum(d))() + training::losses<where>().back() +
         dp::item(dp::sum(std::get<0>(outputs)));
}

template <int... I>
float use_devices() {
  return (0.0f + ... + use_device<I>());
}

}  // namespace
