// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/data/shuffle_seed.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace {

/// Options of a distributed_sampler, with PyTorch's defaults.
struct distributed_sampler_options {
  shuffle_seed shuffle = seed{0};  ///< seed of the random orders; std::nullopt: the order of the data
  bool drop_last = false;          ///< true: leaves out the remainder of samples; false: repeats some samples
};

/// Gives exactly the indices of PyTorch's DistributedSampler, for comparisons with PyTorch programs. Every process gets
/// the same number of samples: if they do not divide evenly, some are repeated or, with `drop_last`, left out.
/// `loader<across<...>>` needs no sampler, and neither repeats nor leaves out samples. Not part of all.hpp.
class distributed_sampler {
 public:
  /// For `samples` samples and process `rank` of `size` processes. Throws argument_error unless 0 <= rank < size, and
  /// for more than 214,748,363 samples, which PyTorch shuffles by another algorithm.
  distributed_sampler(std::size_t samples, int size, int rank, const distributed_sampler_options& options = {})
      : options_(options), stride_(static_cast<std::size_t>(size)), first_(static_cast<std::size_t>(rank)) {
    if (rank < 0 || rank >= size)
      throw argument_error({"distributed_sampler: this is process ", rank, " of ", size, "; processes count from 0."});
    if (options.shuffle && samples >= 0xffffffff / 20)
      throw argument_error(
          {"distributed_sampler: PyTorch shuffles ", samples,
           " samples by another algorithm, which is not supported; loader<across<...>> shuffles them."});
    order_.resize(samples);
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    own_.resize(options.drop_last ? samples / stride_ : detail::divided_up(samples, stride_));
  }
  /// For the processes of a group.
  distributed_sampler(std::size_t samples, const process_group& processes,
                      const distributed_sampler_options& options = {})
      : distributed_sampler(samples, processes.size(), processes.rank(), options) {}

  /// Number of this process's samples in an epoch; equal in all processes.
  std::size_t size() const { return own_.size(); }

  /// Indices of this process's samples in an epoch, as DistributedSampler gives them after `set_epoch(epoch)`. Valid
  /// until the next call. Throws argument_error for a negative epoch.
  std::span<const std::int64_t> order(int epoch) & DEVPLACE_LIFETIMEBOUND {
    if (epoch < 0) throw argument_error({"epoch ", epoch, " was asked for; epochs count from 0."});
    if (options_.shuffle) permute(options_.shuffle->value + static_cast<std::uint64_t>(epoch));
    for (std::size_t i = 0; i != own_.size(); ++i) own_[i] = order_[(first_ + i * stride_) % order_.size()];
    return {own_.data(), own_.size()};
  }

 private:
  /// Permutes as torch.randperm does with a CPU generator of this seed; the generator uses the seed's low 32 bits.
  void permute(std::uint64_t seed) {
    std::mt19937 numbers(static_cast<std::uint32_t>(seed));
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    for (std::size_t i = 0; i + 1 < order_.size(); ++i)
      std::swap(order_[i], order_[i + numbers() % (order_.size() - i)]);
  }

  distributed_sampler_options options_;
  std::size_t stride_, first_;
  std::vector<std::int64_t> order_, own_;
};

}  // namespace devplace
