// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/peer_copy.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel {

/// The communicator of devices of one process that copy only from their left neighbour. The buffers are cut into n
/// chunks, which travel around the ring once to be added up and once more to be distributed, in 2 (n - 1) steps. Each
/// device receives 2 (n - 1) / n S bytes. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", 2009.
///
/// all_reduce and reduce add chunk c in the order g(c) + g(c+1) + ... + g(c+n-1), ranks modulo n, and reduce_scatter
/// adds part r in the order g(r+1) + ... + g(r+n): the bits depend only on the numbers of ranks and elements. The
/// boundaries of chunks depend on the number of elements, so bucket sizes change the bits, unlike with `direct`.
template <class Backend>
class ring {
 public:
  /// For these devices, rank 0 first; each receives from the previous one.
  explicit ring(std::span<const int> ordinals) : devices_(ordinals), received_(ordinals.size()) {}

  /// Number of participants, all of which are in this process.
  ///@{
  int size() const { return devices_.size(); }
  int first_rank() const { return 0; }
  int local_count() const { return size(); }
  ///@}

  /// Allocates memory for one chunk of `count` elements on each device, unless a larger one was allocated before. The
  /// reducing collectives call it themselves.
  void prepare(std::size_t count, std::size_t element_bytes) { reserve(even_begins(count), element_bytes); }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    const auto begins = even_begins(count);
    add_up(buffers, begins, op, 0);
    pass_on(buffers, begins, 1);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    devices_.check_root(root);
    const auto begins = even_begins(count);
    add_up(buffers, begins, op, 0);
    devices_.mark();
    for (int chunk = 0; chunk != size(); ++chunk) {
      const int owner = modulo(chunk - 1);
      devices_.follow(root, owner);
      if (owner != root) copy(buffers, root, owner, begins, chunk);
    }
    devices_.mark(root);
    for (int rank = 0; rank != size(); ++rank)
      devices_.follow(rank, root);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    devices_.check_root(root);
    devices_.check(buffers.size());
    const auto begins = even_begins(count);
    const int n = size();
    devices_.mark();
    // Chunk c reaches the rank at distance d from the root in step c + d - 1, so that all links are used concurrently.
    for (int step = 0; step < 2 * n - 2; ++step) {
      for (int distance = 1; distance != n; ++distance)
        devices_.follow(modulo(root + distance), modulo(root + distance - 1));
      for (int distance = 1; distance != n; ++distance) {
        const int chunk = step - distance + 1;
        const int rank = modulo(root + distance);
        if (chunk >= 0 && chunk < n) copy(buffers, rank, modulo(rank - 1), begins, chunk);
        devices_.mark(rank);
      }
    }
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    devices_.check(begins);
    add_up(buffers, begins, op, 1);
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    devices_.check(begins);
    pass_on(buffers, begins, 0);
  }
  ///@}

 private:
  static constexpr std::size_t grain = 16384;

  int modulo(int rank) const { return (rank % size() + size()) % size(); }

  /// Chunks whose sizes differ by at most one element; the span refers to a member.
  std::span<const std::size_t> even_begins(std::size_t count) {
    begins_.resize(static_cast<std::size_t>(size()) + 1);
    for (int chunk = 0; chunk != size(); ++chunk)
      begins_[static_cast<std::size_t>(chunk) + 1] = detail::part_of(count, size(), chunk, 1).last;
    return begins_;
  }

  /// n - 1 steps, in each of which every rank receives a chunk from its left neighbour and adds its own. Chunk c starts
  /// at rank c + shift and is complete on the rank to the left of that.
  template <class T>
  void add_up(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op, int shift) {
    devices_.check(buffers.size());
    reserve(begins, sizeof(T));
    const int n = size();
    devices_.mark();
    for (int step = 0; step != n - 1; ++step) {
      follow_left();
      for (int rank = 0; rank != n; ++rank) {
        const int chunk = modulo(rank - step - 1 - shift);
        const auto range = detail::part(begins, chunk);
        T* const received = static_cast<T*>(received_[static_cast<std::size_t>(rank)].data());
        const int left = modulo(rank - 1);
        devplace::detail::copy_from_peer<Backend>(devices_.ordinal(rank), received, devices_.ordinal(left),
                                                  buffers[static_cast<std::size_t>(left)] + range.first,
                                                  range.size() * sizeof(T));
        detail::with_reduction<T>(op, [&]<reduction Op>() {
          devplace::detail::for_each_index<Backend>(
              devices_.ordinal(rank), range.size(), grain,
              detail::add_received<T, Op>{buffers[static_cast<std::size_t>(rank)] + range.first, received,
                                          step == n - 2 ? n : 0});
        });
        devices_.mark(rank);
      }
    }
  }

  /// n - 1 steps, in each of which every rank receives a complete chunk from its left neighbour. At the start rank r
  /// has chunk r + shift.
  template <class T>
  void pass_on(std::span<T* const> buffers, std::span<const std::size_t> begins, int shift) {
    devices_.check(buffers.size());
    devices_.mark();
    for (int step = 0; step != size() - 1; ++step) {
      follow_left();
      for (int rank = 0; rank != size(); ++rank) {
        copy(buffers, rank, modulo(rank - 1), begins, modulo(rank - 1 - step + shift));
        devices_.mark(rank);
      }
    }
    devices_.fence();  // a rank must not overwrite data that its right neighbour still reads
  }

  void follow_left() {
    for (int rank = 0; rank != size(); ++rank)
      devices_.follow(rank, modulo(rank - 1));
  }

  template <class T>
  void copy(std::span<T* const> buffers, int rank, int from, std::span<const std::size_t> begins, int chunk) {
    const auto range = detail::part(begins, chunk);
    devplace::detail::copy_from_peer<Backend>(
        devices_.ordinal(rank), buffers[static_cast<std::size_t>(rank)] + range.first, devices_.ordinal(from),
        buffers[static_cast<std::size_t>(from)] + range.first, range.size() * sizeof(T));
  }

  void reserve(std::span<const std::size_t> begins, std::size_t element_bytes) {
    if (size() == 1) return;  // nothing is received
    std::size_t bytes = 0;
    for (int chunk = 0; chunk != size(); ++chunk)
      bytes = std::max(bytes, detail::part(begins, chunk).size() * element_bytes);
    for (int rank = 0; rank != size(); ++rank) {
      auto& block = received_[static_cast<std::size_t>(rank)];
      if (block.bytes() >= bytes) continue;
      block = {};
      const int ordinal = devices_.ordinal(rank);
      devplace::detail::on_behalf_of_replica<Backend>(
          static_cast<std::size_t>(rank), static_cast<std::size_t>(size()), ordinal,
          [&] { block = devplace::detail::allocate<Backend>(ordinal, bytes, memory_purpose::workspace); });
    }
  }

  detail::rank_devices<Backend> devices_;
  std::vector<std::size_t> begins_;
  std::vector<devplace::detail::memory_block> received_;
};

}  // namespace devplace::parallel
