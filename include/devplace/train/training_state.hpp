// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include <devplace/optim/loss_scaling.hpp>
#include <devplace/optim/optimizer_state.hpp>

namespace devplace::train {

/// All that a training goes on from, on the host: what a checkpoint keeps (train/checkpoint.hpp).
template <class Rule, class T>
struct training_state {
  std::uint64_t seed = 0;                     ///< of the model
  std::uint64_t passes = 0;                   ///< of the model so far, from which random layers draw
  std::vector<T> parameters;                  ///< the arena, of several replicas the first one's
  std::vector<T> buffers;                     ///< the same
  optim::optimizer_state<Rule, T> optimizer;  ///< whole
  std::vector<double> losses;                 ///< of the mean loss: the sums of losses and of weights
  optim::loss_scaling scaling = {};           ///< in mixed<half>
  optim::loss_scaler_state scaler = {};       ///< in mixed<half>
};

}  // namespace devplace::train
