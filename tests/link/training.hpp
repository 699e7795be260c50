// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <devplace/all.hpp>

/// A small training, with the same source for every placement and translation unit.
namespace training {

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
inline constexpr std::size_t samples = 13;

/// Losses of four Adam steps.
template <dp::placement Where> std::vector<float> losses() {
  std::vector<float> x;
  std::vector<std::int64_t> y;
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t j = 0; j < 6; ++j) x.push_back(static_cast<float>((i * 7 + j * 5) % 11) / 11 - 0.5f);
    y.push_back(static_cast<std::int64_t>(i * i % 3));
  }
  const auto images = dp::to_batch<Where>(dp::wrap(x, dp::extents<dp::dyn, 6>{samples}));
  const auto labels = dp::to_batch<Where>(dp::wrap(y, dp::extents<dp::dyn>{samples}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.05f}};
  std::vector<float> result;
  for (int i = 0; i < 4; ++i) result.push_back(step(images, labels).item());
  return result;
}

inline bool agree(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-5f * std::abs(a[i]))) return false;
  return a.size() == b.size() && a.front() > a.back();
}

}  // namespace training
