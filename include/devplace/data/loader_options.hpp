// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>

#include <devplace/place/seed.hpp>
#include <devplace/tensor/split.hpp>

namespace devplace {

/// How a loader makes batches. Only `batch` must be given: `{.batch = 64, .shuffle = dp::seed{2}}`.
struct loader_options {
  /// Samples in a batch; the last one of an epoch has what is left. At least 1.
  std::size_t batch = 0;
  /// Start of the random order, a new one in every epoch; without it, samples come in the order of the data.
  std::optional<seed> shuffle = {};
  /// Leaves out the last batch of an epoch where it would be smaller than the others.
  bool drop_last = false;
  /// Threads that prepare batches ahead; 0: batches are made in the caller's thread when they are asked for. The
  /// order and the bits of batches do not depend on it.
  int workers = 0;
  /// Batches that each worker prepares ahead. At least 1.
  int prefetch = 2;
  /// Features are `(x * scale - mean) / standard_deviation`. Unset: 1/255 for uint8, 1 for floating-point features.
  std::optional<double> scale = {};
  /// Subtracted after scaling.
  double mean = 0;
  /// Divides last. More than 0.
  double standard_deviation = 1;
  /// How a batch is split over the places of a replicated model: evenly, or as torch.nn.DataParallel does
  /// (`split::torch`), under which the last places may have fewer samples, or none. On one place it does not matter.
  split::rule split = split::even;
};

}  // namespace devplace
