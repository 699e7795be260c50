// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/optim/loss_scaling.hpp>
#include <devplace/optim/optimizer_state.hpp>

namespace devplace {

/// The position of a training: `batches.epoch(at.epoch, at.batch)` yields the next batches.
struct training_position {
  int epoch = 0;          ///< counted from 0
  std::size_t batch = 0;  ///< number of the epoch's batches that were trained

  /// Whether epoch and batch are equal.
  friend bool operator==(const training_position&, const training_position&) = default;
};

}  // namespace devplace

namespace devplace::train {

/// The whole state of a training on the host, for checkpoints (train/checkpoint.hpp).
template <class Rule, class T> struct training_state {
  std::uint64_t seed = 0;                     ///< the model's seed
  std::uint64_t passes = 0;                   ///< the model's passes so far, which key random layers
  std::vector<T> parameters;                  ///< the first replica's arena
  std::vector<T> buffers;                     ///< the first replica's arena
  optim::optimizer_state<Rule, T> optimizer;  ///< state of all parameters
  std::vector<double> losses;                 ///< sums of losses and of weights, for the mean loss
  optim::loss_scaling scaling = {};           ///< options, in mixed<half>
  optim::loss_scaler_state scaler = {};       ///< state of loss scaling, in mixed<half>
};

}  // namespace devplace::train
