// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/process/combine.hpp>

namespace devplace::parallel::detail {

/// Part of the elements of a buffer, as [first, last).
struct element_range {
  std::size_t first;
  std::size_t last;
  std::size_t size() const { return last - first; }
};
/// The elements of part `part`; `begins` are the boundaries of all parts.
inline element_range part(std::span<const std::size_t> begins, int part) {
  return {begins[static_cast<std::size_t>(part)], begins[static_cast<std::size_t>(part) + 1]};
}

/// The base class of communicators in one process: has the devices and an event for each device, orders the devices'
/// work, and copies between devices.
template <class Backend> class rank_devices : public participants {
 protected:
  explicit rank_devices(std::span<const int> ordinals) try
      : participants({}, ordinals.size()), ordinals_(ordinals.begin(), ordinals.end()), begins_(ordinals.size() + 1) {
    check_devices(ordinals.size(), "a communicator");
    for (const int ordinal : ordinals_) events_.push_back(devplace::detail::make_event<Backend>(ordinal));
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  int ordinal(int rank) const { return ordinals_[index(rank)]; }

  /// Records each rank's event.
  void mark() {
    for (int rank = 0; rank != size(); ++rank) mark(rank);
  }
  void mark(int rank) { devplace::detail::record_event<Backend>(events_[index(rank)]); }
  /// Orders later work of rank `rank` after the last recorded event of rank `other`.
  void follow(int rank, int other) {
    if (rank != other) devplace::detail::follow_event<Backend>(ordinal(rank), events_[index(other)]);
  }
  /// A barrier between the ranks' devices. With many ranks the first rank waits for all others, and then all others
  /// wait for the first: the number of calls is linear in the number of ranks.
  void fence() {
    mark();
    if (size() <= 3) {
      for (int rank = 0; rank != size(); ++rank)
        for (int other = 0; other != size(); ++other) follow(rank, other);
      return;
    }
    for (int rank = 1; rank != size(); ++rank) follow(0, rank);
    mark(0);
    for (int rank = 1; rank != size(); ++rank) follow(rank, 0);
  }

  /// The boundaries of the ranks' shares of `count` elements. The span refers to a member.
  std::span<const std::size_t> even_begins(std::size_t count) {
    for (std::size_t rank = 0; rank != begins_.size(); ++rank)
      begins_[rank] = share_begin(count, ordinals_.size(), rank);
    return begins_;
  }

  /// Copies a range of rank `from`'s buffer to `target` on rank `to`.
  template <class T> void copy(int to, T* target, int from, std::span<T* const> buffers, element_range range) {
    devplace::detail::copy_from_peer<Backend>(ordinal(to), target, ordinal(from), buffers[index(from)] + range.first,
                                              range.size() * sizeof(T));
  }
  /// Copies a range of a buffer from rank `from` to the same range of rank `to`'s buffer.
  template <class T> void copy(int to, int from, std::span<T* const> buffers, element_range range) {
    copy(to, buffers[index(to)] + range.first, from, buffers, range);
  }

 private:
  std::vector<int> ordinals_;
  std::vector<devplace::detail::event_handle> events_;
  std::vector<std::size_t> begins_;
};

}  // namespace devplace::parallel::detail
