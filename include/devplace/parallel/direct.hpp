// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <devplace/ops/for_each.hpp>
#include <devplace/ops/peer_copy.hpp>
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
class direct {
 public:
  /// For these devices, rank 0 first. Throws placement_unavailable if two of them lack peer access.
  explicit direct(std::span<const int> ordinals) : devices_(ordinals) {
    for (const int a : ordinals)
      for (const int b : ordinals)
        if (const std::string reason = devplace::detail::why_apart<Backend>(a, b); !reason.empty())
          throw placement_unavailable(reason +
                                      ", which collectives by the engine `direct` need; use collective::ring, which "
                                      "copies through the host, as in collective::ring_all_reduce.");
  }

  /// Number of participants, all of which are in this process.
  ///@{
  int size() const { return devices_.size(); }
  int first_rank() const { return 0; }
  int local_count() const { return size(); }
  ///@}

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    reduce_slices(buffers, count, op, -1);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    devices_.check_root(root);
    reduce_slices(buffers, count, op, root);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    devices_.check_root(root);
    const auto table = devices_.table(buffers);
    devices_.mark(root);
    for (int rank = 0; rank != size(); ++rank) {
      devices_.follow(rank, root);
      if (rank != root) copy(table, rank, root, {0, count});
    }
    devices_.fence();
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    devices_.check(begins);
    const auto table = devices_.table(buffers);
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank)
      reduce_part(table, rank, detail::part(begins, rank), op, rank);
    devices_.fence();
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    devices_.check(begins);
    const auto table = devices_.table(buffers);
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank)
      for (int from = 0; from != size(); ++from)
        if (from != rank) copy(table, rank, from, detail::part(begins, from));
    devices_.fence();
  }
  ///@}

 private:
  /// Elements of one cache line are reduced by one device, to avoid false sharing.
  static constexpr std::size_t line = 16;
  /// Number of elements that justify a thread: a few microseconds of work.
  static constexpr std::size_t grain = 16384;

  template <class T>
  void reduce_slices(std::span<T* const> buffers, std::size_t count, reduction op, int target) {
    const auto table = devices_.table(buffers);
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank)
      reduce_part(table, rank, detail::part_of(count, size(), rank, line), op, target);
    devices_.fence();
  }

  template <class T>
  void reduce_part(const detail::rank_table<T>& table, int rank, detail::element_range range, reduction op,
                   int target) {
    detail::with_reduction<T>(op, [&]<reduction Op>() {
      devplace::detail::for_each_index<Backend>(devices_.ordinal(rank), range.size(), grain,
                                                detail::reduce_in_rank_order<T, Op>{table, range.first, target});
    });
  }

  template <class T>
  void copy(const detail::rank_table<T>& table, int rank, int from, detail::element_range range) {
    devplace::detail::copy_from_peer<Backend>(devices_.ordinal(rank), table.of[rank] + range.first,
                                              devices_.ordinal(from), table.of[from] + range.first,
                                              range.size() * sizeof(T));
  }

  detail::rank_devices<Backend> devices_;
};

}  // namespace devplace::parallel
