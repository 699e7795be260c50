// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/parallel/detail/reduce_in_rank_order.hpp>

namespace devplace::parallel {

/// The communicator of devices of one process: each device reduces its own slice over all ranks' buffers, in rank
/// order, and stores the result in all buffers. For n buffers of S bytes, 2 n S bytes are moved in total, which is the
/// minimum. Every element is ((g0 + g1) + g2) + ..., so the bits do not depend on slices, buckets or threads.
///
/// If two of the devices cannot access each other's memory, each device first copies its slice of the others' buffers
/// to its own memory, in portions of up to 1 MiB; at the end the results are copied back. The bits do not change. The
/// driver may copy through the host.
///
/// This is the two-shot all-reduce over shared memory; see Peng et al., "Optimizing MPI Collectives on Shared Memory
/// Multi-Cores", SC'23.
template <class Backend>
class direct : public detail::participants, public detail::streamed_collectives<direct<Backend>> {
 public:
  /// Connects these devices, rank 0 first.
  explicit direct(std::span<const int> ordinals) : participants({}, ordinals.size()), devices_(ordinals, &any_apart) {}

  /// Allocates the memory for copies of other devices' buffers, if copies are needed.
  void prepare(std::size_t count, std::size_t element_bytes) { reserve(devices_.even_begins(count), element_bytes); }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    reduce_parts(buffers, devices_.even_begins(count), op, everyone);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check(root);
    reduce_parts(buffers, devices_.even_begins(count), op, root);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    broadcast(buffers, {0, count}, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(begins);
    reduce_parts(buffers, begins, op, owner);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(begins, buffers.size());
    gather_parts(buffers, begins, everyone);
  }
  ///@}
  /// Replaces a range of every rank's elements by those of rank `root`.
  template <class T> void broadcast(std::span<T* const> buffers, detail::element_range range, int root) {
    check(root, buffers.size());
    devices_.mark(root);
    for (int rank = 0; rank != size(); ++rank) {
      devices_.follow(rank, root);
      if (rank != root) devices_.copy(rank, root, buffers, range);
    }
    devices_.fence();
  }

 private:
  friend detail::streamed_collectives<direct>;

  static bool any_apart(std::span<const int> ordinals) {
    bool apart = false;
    for (const int a : ordinals)
      for (const int b : ordinals) apart = apart || !devplace::detail::memory_of<Backend>().why_apart(a, b).empty();
    return apart;
  }

  /// Minimum number of elements per thread: a few microseconds of work.
  static constexpr std::size_t grain = 16384;
  /// Special targets of a reduced part: all ranks, or the rank that owns the part.
  static constexpr int everyone = -1, owner = -2;

  template <class T>
  void reduce_parts(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op, int target) {
    check(buffers.size());
    detail::check_reduction<T>(op);
    if (devices_.receives()) return reduce_copies(buffers, begins, op, target);
    detail::rank_table<T> table{};
    table.ranks = size();
    std::copy(buffers.begin(), buffers.end(), table.buffers);
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank) {
      const detail::element_range range = detail::part(begins, rank);
      detail::with_reduction<T>(op, [&]<reduction Op>() {
        devplace::detail::for_each_index<Backend>(
            devices_.ordinal(rank), range.size(), grain,
            detail::reduce_in_rank_order<T, Op>{table, range.first, target == owner ? rank : target});
      });
    }
    devices_.fence();
  }

  /// Replaces reduce_parts() for devices that cannot access each other's memory: each device reduces its part into its
  /// own buffer.
  template <class T>
  void reduce_copies(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op, int target) {
    reserve(begins, sizeof(T));
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank) {
      const detail::element_range own = detail::part(begins, rank);
      const std::size_t portion = portion_of(begins, sizeof(T)) / sizeof(T);
      for (std::size_t first = own.first; first < own.last; first += portion) {
        const detail::element_range range{first, std::min(first + portion, own.last)};
        detail::rank_table<T> table{};
        table.ranks = size();
        T* free = devices_.template received<T>(rank);
        for (int from = 0; from != size(); ++from) {
          if (from == rank) {
            table.buffers[from] = buffers[index(rank)] + first;
            continue;
          }
          devices_.copy(rank, free, from, buffers, range);
          table.buffers[from] = free;
          free += portion;
        }
        detail::with_reduction<T>(op, [&]<reduction Op>() {
          devplace::detail::for_each_index<Backend>(devices_.ordinal(rank), range.size(), grain,
                                                    detail::reduce_in_rank_order<T, Op>{table, 0, rank});
        });
      }
    }
    gather_parts(buffers, begins, target);
  }

  /// Copies each rank's part to the target's buffers.
  template <class T> void gather_parts(std::span<T* const> buffers, std::span<const std::size_t> begins, int target) {
    devices_.fence();
    for (int rank = 0; rank != size(); ++rank)
      for (int from = 0; from != size(); ++from)
        if (from != rank && (target == everyone || target == rank))
          devices_.copy(rank, from, buffers, detail::part(begins, from));
    devices_.fence();
  }

  /// Size of one copy from another device, in bytes: at most 1 MiB, a multiple of all elements' alignments.
  std::size_t portion_of(std::span<const std::size_t> begins, std::size_t element_bytes) const {
    std::size_t bytes = 0;
    for (int rank = 0; rank != size(); ++rank)
      bytes = std::max(bytes, detail::part(begins, rank).size() * element_bytes);
    return std::min(devplace::detail::aligned(bytes), std::size_t{1} << 20);
  }

  void reserve(std::span<const std::size_t> begins, std::size_t element_bytes) {
    devices_.reserve_received(portion_of(begins, element_bytes) * (index(size()) - 1));
  }

  detail::rank_devices<Backend> devices_;
};

}  // namespace devplace::parallel
