// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>

#include <devplace/data/shuffle_seed.hpp>
#include <devplace/tensor/split.hpp>

namespace devplace {

/// Options of a loader. Only `batch` must be given: `{.batch = 64, .shuffle = dp::seed{2}}`.
struct loader_options {
  /// Samples in a batch, at least 1; the last batch of an epoch has the rest.
  std::size_t batch = 0;
  /// Seed of the random order, which differs between epochs; without a seed, samples come in the order of the data.
  shuffle_seed shuffle = {};
  /// Leaves out the last batch of an epoch if it is smaller than the others.
  bool drop_last = false;
  /// Threads that prepare batches ahead. With 0, the calling thread makes each batch when it is requested. Order and
  /// bits of the batches do not depend on this option.
  int workers = 0;
  /// Batches that each worker prepares ahead. At least 1.
  int prefetch = 2;
  /// Factor of features: `(x * scale - mean) / standard_deviation`, all finite. Unset: 1/255 for uint8, 1 for
  /// floating-point features. int32 and int64 are not scaled.
  std::optional<double> scale = {};
  /// Subtracted from scaled features.
  double mean = 0;
  /// Divides features after `mean` was subtracted. Greater than 0.
  double standard_deviation = 1;
  /// How a batch is split over the places of a replicated model: evenly, or as torch.nn.DataParallel does
  /// (`split::torch`), which may leave the last places with fewer samples or none. Without effect on one place.
  split::rule split = split::even;
};

}  // namespace devplace
