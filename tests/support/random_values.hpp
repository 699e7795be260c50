// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <random>
#include <type_traits>

#include <devplace/tensor/tensor.hpp>

namespace devplace::test {

/// Returns a tensor on the CPU with pseudo-random elements in [low, high), equal in every run.
template <class T, class Extents>
auto random_values(const Extents& extents, unsigned seed, double low = -1, double high = 1) {
  tensor<T, Extents, on<cpu>> result(extents);
  std::mt19937_64 engine(seed);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      result.data()[i] = static_cast<T>(std::uniform_real_distribution<double>(low, high)(engine));
    else
      result.data()[i] =
          static_cast<T>(std::uniform_int_distribution<int>(static_cast<int>(low), static_cast<int>(high))(engine));
  }
  return result;
}

}  // namespace devplace::test
