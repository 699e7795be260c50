// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::nn::detail {

/// Weights of a loss in the memory of a place.
template <class T> struct placed_weights {
  std::size_t count = 0;                 ///< 0: none are given
  devplace::detail::memory_block block;  ///< the weights

  const T* data() const { return count == 0 ? nullptr : static_cast<const T*>(block.data()); }
};

template <class T, class Backend> placed_weights<T> place_weights(int ordinal, const std::vector<double>& weights) {
  const std::vector<T> values(weights.begin(), weights.end());
  const std::size_t bytes = values.size() * sizeof(T);
  placed_weights<T> result{values.size(),
                           devplace::detail::allocate<Backend>(ordinal, bytes, memory_purpose::workspace)};
  devplace::detail::copy_in<Backend>(ordinal, result.block.data(), values.data(), bytes);
  return result;
}

}  // namespace devplace::nn::detail
