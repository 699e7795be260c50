// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/ranks.hpp>

namespace devplace::parallel {

/// The communicator of devices of one process with access to each other's memory: each device reduces its own slice
/// over all ranks' buffers, in rank order, and stores the result in all of them. For n buffers of S bytes, 2 n S bytes
/// are moved in total, the minimum. ((g0 + g1) + g2) + ... is computed for every element alike, so the bits do not
/// depend on slices, buckets or threads.
///
/// This is the two-shot all-reduce over shared memory; see Peng et al., "Optimizing MPI Collectives on Shared Memory
/// Multi-Cores", SC'23.
template <class Backend>
class direct : public detail::rank_devices<Backend> {
 public:
  /// For these devices, rank 0 first. Throws placement_unavailable if two of them lack peer access.
  explicit direct(std::span<const int> ordinals) : detail::rank_devices<Backend>(ordinals) {
    for (const int a : ordinals)
      for (const int b : ordinals)
        if (const std::string reason = devplace::detail::memory_of<Backend>().why_apart(a, b); !reason.empty())
          throw placement_unavailable(reason +
                                      ", which collectives by the engine `direct` need; use collective::ring, which "
                                      "copies through the host, as in collective::ring_all_reduce.");
  }
  using detail::rank_devices<Backend>::size;

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    reduce_parts(buffers, even_begins(count, line), op, everyone);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check_root(root);
    reduce_parts(buffers, even_begins(count, line), op, root);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check_root(root);
    check(buffers.size());
    mark(root);
    for (int rank = 0; rank != size(); ++rank) {
      follow(rank, root);
      if (rank != root) copy(rank, root, buffers, {0, count});
    }
    fence();
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(begins);
    reduce_parts(buffers, begins, op, owner);
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(begins);
    check(buffers.size());
    fence();
    for (int rank = 0; rank != size(); ++rank)
      for (int from = 0; from != size(); ++from)
        if (from != rank) copy(rank, from, buffers, detail::part(begins, from));
    fence();
  }
  ///@}

 private:
  using detail::rank_devices<Backend>::check;
  using detail::rank_devices<Backend>::check_root;
  using detail::rank_devices<Backend>::copy;
  using detail::rank_devices<Backend>::even_begins;
  using detail::rank_devices<Backend>::fence;
  using detail::rank_devices<Backend>::follow;
  using detail::rank_devices<Backend>::mark;

  /// Elements of one cache line are reduced by one device, to avoid false sharing.
  static constexpr std::size_t line = 16;
  /// Number of elements that justify a thread: a few microseconds of work.
  static constexpr std::size_t grain = 16384;
  /// Who gets a reduced part, instead of one rank: all ranks, or the rank whose part it is.
  static constexpr int everyone = -1, owner = -2;

  template <class T>
  void reduce_parts(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op, int target) {
    check(buffers.size());
    detail::rank_table<T> table{};
    table.ranks = size();
    std::copy(buffers.begin(), buffers.end(), table.of);
    fence();
    for (int rank = 0; rank != size(); ++rank) {
      const detail::element_range range = detail::part(begins, rank);
      detail::with_reduction<T>(op, [&]<reduction Op>() {
        devplace::detail::for_each_index<Backend>(
            this->ordinal(rank), range.size(), grain,
            detail::reduce_in_rank_order<T, Op>{table, range.first, target == owner ? rank : target});
      });
    }
    fence();
  }
};

}  // namespace devplace::parallel
