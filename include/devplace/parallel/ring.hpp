// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/parallel/detail/reduce_in_rank_order.hpp>

namespace devplace::parallel {

/// The communicator of devices of one process, each of which copies only from its left neighbour. The n buffers of S
/// bytes are cut into n chunks each. The chunks travel around the ring once to be added up and once more to be
/// distributed, in 2 (n - 1) steps. Each device receives 2 (n - 1) / n S bytes. Patarasuk and Yuan, "Bandwidth optimal
/// all-reduce algorithms for clusters of workstations", 2009.
///
/// Chunk r, and part r of reduce_scatter, are completed on rank r, in the order g(r+1) + ... + g(r+n), ranks modulo n.
/// The bits depend only on the numbers of ranks and elements; reduce_scatter with the parts of `share_begin` has the
/// bits of all_reduce. The boundaries of chunks depend on the number of elements, so bucket sizes change the bits,
/// unlike with `direct`.
template <class Backend> class ring : public detail::participants, public detail::streamed_collectives<ring<Backend>> {
 public:
  /// Connects these devices, rank 0 first; each device receives from the previous one.
  explicit ring(std::span<const int> ordinals)
      : participants({}, ordinals.size()), devices_(ordinals, [](std::span<const int>) { return true; }) {}

  /// Allocates memory for one chunk of `count` elements on each device, unless the device has enough. Without this call
  /// the first reduction allocates the memory.
  void prepare(std::size_t count, std::size_t element_bytes) { reserve(devices_.even_begins(count), element_bytes); }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    const auto begins = devices_.even_begins(count);
    reduce_chunks(buffers, begins, op);
    gather_chunks(buffers, begins);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check(root);
    const auto begins = devices_.even_begins(count);
    reduce_chunks(buffers, begins, op);
    devices_.mark();
    for (int rank = 0; rank != size(); ++rank) {
      devices_.follow(root, rank);
      if (rank != root) devices_.copy(root, rank, buffers, detail::part(begins, rank));
    }
    devices_.mark(root);
    for (int rank = 0; rank != size(); ++rank) devices_.follow(rank, root);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(root, buffers.size());
    const auto begins = devices_.even_begins(count);
    const int n = size();
    devices_.mark();
    // Chunk c reaches the rank at distance d from the root in step c + d - 1, so that all links are used concurrently.
    for (int step = 0; step < 2 * n - 2; ++step) {
      for (int distance = 1; distance != n; ++distance)
        devices_.follow(modulo(root + distance), modulo(root + distance - 1));
      for (int distance = 1; distance != n; ++distance) {
        const int chunk = step - distance + 1;
        const int rank = modulo(root + distance);
        if (chunk >= 0 && chunk < n) devices_.copy(rank, modulo(rank - 1), buffers, detail::part(begins, chunk));
        devices_.mark(rank);
      }
    }
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(begins);
    reduce_chunks(buffers, begins, op);
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(begins);
    gather_chunks(buffers, begins);
  }
  ///@}

 private:
  friend detail::streamed_collectives<ring>;

  static constexpr std::size_t grain = 16384;

  int modulo(int rank) const { return (rank % size() + size()) % size(); }

  /// Runs n - 1 steps. In each step every rank calls `receive(step, rank, left)` to get a chunk from its left
  /// neighbour.
  template <class Receive> void circulate(const Receive& receive) {
    devices_.mark();
    for (int step = 0; step != size() - 1; ++step) {
      for (int rank = 0; rank != size(); ++rank) devices_.follow(rank, modulo(rank - 1));
      for (int rank = 0; rank != size(); ++rank) {
        receive(step, rank, modulo(rank - 1));
        devices_.mark(rank);
      }
    }
  }

  /// Reduces the chunks: every rank adds its own elements to the chunk that it receives. Chunk r starts at the right
  /// neighbour of rank r and is complete on rank r.
  template <class T>
  void reduce_chunks(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(buffers.size());
    detail::check_reduction<T>(op);
    reserve(begins, sizeof(T));
    circulate([&](int step, int rank, int left) {
      const auto range = detail::part(begins, modulo(rank - step - 2));
      T* const received = devices_.template received<T>(rank);
      devices_.copy(rank, received, left, buffers, range);
      detail::with_reduction<T>(op, [&]<reduction Op>() {
        devplace::detail::for_each_index<Backend>(
            devices_.ordinal(rank), range.size(), grain,
            detail::add_received<T, Op>{buffers[index(rank)] + range.first, received, step == size() - 2 ? size() : 0});
      });
    });
  }

  /// Distributes complete chunks. At the start rank r has chunk r.
  template <class T> void gather_chunks(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(buffers.size());
    circulate([&](int step, int rank, int left) {
      devices_.copy(rank, left, buffers, detail::part(begins, modulo(rank - 1 - step)));
    });
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }

  void reserve(std::span<const std::size_t> begins, std::size_t element_bytes) {
    if (size() == 1) return;  // nothing is received
    std::size_t bytes = 0;
    for (int chunk = 0; chunk != size(); ++chunk)
      bytes = std::max(bytes, detail::part(begins, chunk).size() * element_bytes);
    devices_.reserve_received(bytes);
  }

  detail::rank_devices<Backend> devices_;
};

}  // namespace devplace::parallel
