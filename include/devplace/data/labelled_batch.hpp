// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace {

/// Samples and their labels, or targets, for one step of training: `const auto& [images, labels] = batch`.
template <class Images, class Labels>
struct labelled_batch {
  Images images;  ///< one sample for each index of the first axis
  Labels labels;  ///< as many
};

namespace detail {

/// A batch on its way to devices, in memory that they copy from: the features as the network's numbers or, of data that
/// is bytes, as these, which the devices turn into numbers. The tensor that is not used has no rows.
template <class Images, class Bytes, class Labels>
struct staged_batch {
  Images images;
  Bytes bytes;
  Labels labels;
};

}  // namespace detail
}  // namespace devplace
