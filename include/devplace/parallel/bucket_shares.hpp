// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/share.hpp>

namespace devplace::parallel {

/// The participants' shares of a network's buckets, for policies that update shares. Each bucket is divided among all
/// participants. The tail behind the gradients (runtime::gradient_tail) is part of the first bucket, but of no
/// parameter. `T` is the type of the reduced elements.
template <class Net, class T, class Policy> class bucket_shares {
  using plan = detail::network_buckets<Net, T, Policy>;
  static constexpr std::size_t parameters = runtime::network_plan<Net>::parameter_elements;

 public:
  /// Number of buckets.
  static constexpr std::size_t buckets = plan::size;
  /// The parameters in participant `rank`'s share of bucket `i`; possibly none.
  static constexpr bucket part(std::size_t i, std::size_t participants, std::size_t rank) {
    const bucket b = plan::at(i);
    const std::size_t limit = parameters - b.first;
    const std::size_t begin = std::min(share_begin(b.count, participants, rank), limit);
    return {b.first + begin, std::min(share_begin(b.count, participants, rank + 1), limit) - begin};
  }
  /// The number of parameters in all shares of participant `rank`. No participant has more than the first.
  static constexpr std::size_t all_parts(std::size_t participants, std::size_t rank) {
    std::size_t elements = 0;
    for (std::size_t i = 0; i != plan::size; ++i) elements += part(i, participants, rank).count;
    return elements;
  }

  /// Computes the shares of `participants` participants. Allocates.
  explicit bucket_shares(std::size_t participants)
      : begins_((plan::size + 1) * (participants + 1)), row_(participants + 1) {
    for (std::size_t i = 0; i != plan::size; ++i)
      for (std::size_t rank = 0; rank != row_; ++rank)
        begins_[i * row_ + rank] = share_begin(plan::at(i).count, participants, rank);
    for (std::size_t rank = 0; rank != row_; ++rank)
      begins_[plan::size * row_ + rank] = std::min(begins_[rank], parameters - plan::at(0).first);
  }

  /// The boundaries of the shares of bucket `i`, counted from the bucket's first element. Only of_gradients() includes
  /// the tail behind the gradients.
  ///@{
  std::span<const std::size_t> of_gradients(std::size_t i) const { return {begins_.data() + i * row_, row_}; }
  std::span<const std::size_t> of_parameters(std::size_t i) const { return of_gradients(i == 0 ? plan::size : i); }
  ///@}
  /// The participant whose share contains the tail: the last participant with an element of the first bucket.
  int owner_of_sums() const {
    std::size_t rank = row_ - 1;
    while (begins_[rank - 1] == plan::at(0).count) --rank;
    return static_cast<int>(rank) - 1;
  }

 private:
  std::vector<std::size_t> begins_;  ///< a row for each bucket, and one for the parameters of the first bucket
  std::size_t row_;
};

}  // namespace devplace::parallel
