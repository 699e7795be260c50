// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

namespace devplace {

/// Samples and their labels, or targets, for one step of training: `const auto& [images, labels] = batch`.
template <class Images, class Labels> struct labelled_batch {
  Images images;  ///< one sample for each index of the first axis
  Labels labels;  ///< one label or target for each sample

  /// Batches are moved, not copied.
  ///@{
  constexpr labelled_batch(Images&& x, Labels&& y) : images(std::move(x)), labels(std::move(y)) {}
  labelled_batch(labelled_batch&&) = default;
  ///@}
  labelled_batch(const labelled_batch&) = delete;  // loop by const auto& [images, labels]
};

}  // namespace devplace
