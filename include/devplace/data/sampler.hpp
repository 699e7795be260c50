// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

#include <devplace/base/error.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/random_order.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

/// The order in which an epoch visits the samples: the order of the data or, with a seed, a random order that depends
/// only on the seed, the epoch and the number of samples. The constructor allocates all memory.
class sampler {
 public:
  /// For `samples` samples; with a seed, in random orders.
  [[gnu::noinline]] DEVPLACE_CONFIGURED explicit sampler(std::size_t samples, std::optional<seed> shuffle = {})
      : order_(extents<dyn>(samples)),
        workspace_(detail::allocate<backend::cpu>(
            0, shuffle ? detail::random_order::workspace(samples) * sizeof(std::uint64_t) : 0,
            memory_purpose::workspace)),
        shuffle_(shuffle) {
    std::iota(order_.data(), order_.data() + samples, std::int64_t{0});
  }

  /// Number of samples.
  std::size_t size() const { return order_.size(); }

  /// The samples' indices in the order of epoch `epoch`, counted from 0. Valid until the next call; does not allocate.
  /// Throws argument_error for a negative epoch.
  [[gnu::noinline]] std::span<const std::int64_t> order(int epoch) & DEVPLACE_LIFETIMEBOUND {
    if (epoch < 0) throw argument_error({"epoch ", epoch, " was asked for; epochs count from 0."});
    if (shuffle_)
      detail::random_order::run(order_.data(), order_.size(), {shuffle_->value, stream(epoch)},
                                static_cast<std::uint64_t*>(workspace_.data()));
    return {order_.data(), order_.size()};
  }

  /// The random stream of an epoch's order: `permutation_into(order, seed, sampler::stream(epoch))` (permutation.hpp)
  /// draws the same order on a device.
  static constexpr std::uint64_t stream(int epoch) {
    // The high half separates the streams of epochs from other streams of the seed.
    return std::uint64_t{0x73616d70} << 32 | static_cast<std::uint32_t>(epoch);
  }

 private:
  tensor<std::int64_t, extents<dyn>, on<cpu>> order_;
  detail::memory_block workspace_;
  std::optional<seed> shuffle_;
};

}  // namespace devplace
