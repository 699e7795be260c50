// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// One replica's arenas: parameters, gradients (with two sums behind them) and buffers, each one block with the same
/// constexpr offsets on every place.
template <class T>
struct replica {
  int ordinal = 0;
  devplace::detail::memory_block parameters;
  devplace::detail::memory_block gradients;
  devplace::detail::memory_block buffers;

  T* parameter_data() const { return static_cast<T*>(parameters.data()); }
  T* gradient_data() const { return static_cast<T*>(gradients.data()); }
  T* buffer_data() const { return static_cast<T*>(buffers.data()); }
};

/// What a model keeps beside its type: shared with leases and saved activations, so that they notice misuse.
template <class T>
struct model_state {
  std::vector<replica<T>> replicas;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;      ///< training passes so far: keys random layers
  std::uint64_t updates = 0;   ///< optimizer steps so far: activations saved before one do not fit the parameters after
  bool gradients_out = false;  ///< a lease of the gradient arenas exists
};

}  // namespace devplace::nn::detail
