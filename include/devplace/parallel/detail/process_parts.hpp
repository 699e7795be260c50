// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// The participants of several processes, and the division of a collective's elements:
/// - into windows, one for each call of the transport, and each window into the processes' parts;
/// - into chunks, which may have different orders of summation.
class process_parts : public participants {
 public:
  process_parts(const process_ranks& ranks, std::size_t local)
      : participants(ranks, local), begins_(index(processes()) + 1), chunks_(index(size()) + 1) {}

  using participants::is_here;
  std::size_t local() const { return index(local_count()); }
  std::size_t local_of(int rank) const { return index(rank % local_count()); }

  /// The number of elements of a window for a transport that takes `portion` bytes.
  std::size_t window(std::size_t portion, std::size_t element_bytes) const {
    return std::max(portion / (element_bytes * local()) / line * line, std::size_t{1});
  }

  // The division of a window among the processes, in bytes.
  std::span<const std::size_t> begins() const { return begins_; }
  std::size_t own_begin() const { return begins_[index(process())]; }
  std::size_t own_end() const { return begins_[index(process()) + 1]; }
  void split_evenly(std::size_t count, std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = share_begin(count, index(processes()), r) * element_bytes;
  }
  void all_to_process_of(int rank, std::size_t count, std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = r > index(process_of(rank)) ? count * element_bytes : 0;
  }
  void split_at(std::span<const std::size_t> of_participants, std::size_t first, std::size_t last,
                std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = (std::clamp(of_participants[r * local()], first, last) - first) * element_bytes;
  }
  /// The elements of a window that belong to place `k` of this process.
  std::pair<std::size_t, std::size_t> own(std::span<const std::size_t> of_participants, std::size_t k,
                                          std::size_t first, std::size_t last) const {
    const std::size_t rank = index(first_rank()) + k;
    return {std::clamp(of_participants[rank], first, last), std::clamp(of_participants[rank + 1], first, last)};
  }

  // The division of all elements into chunks, one for each participant.
  std::span<const std::size_t> chunks() const { return chunks_; }
  void order_chunks(std::size_t count) {
    for (std::size_t c = 0; c != chunks_.size(); ++c) chunks_[c] = share_begin(count, chunks_.size() - 1, c);
  }
  void order_chunks(std::span<const std::size_t> of_participants) {
    std::copy(of_participants.begin(), of_participants.end(), chunks_.begin());
  }

 private:
  /// Sizes of windows are multiples of this number of elements, a cache line of float.
  static constexpr std::size_t line = 16;

  std::vector<std::size_t> begins_, chunks_;
};

}  // namespace devplace::parallel::detail
