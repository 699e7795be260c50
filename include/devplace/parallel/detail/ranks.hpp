// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/side_streams.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/place/replica_error.hpp>

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

/// Replaces the workspace of device k, which no work uses any more, by one of `bytes` bytes.
template <class Backend>
void replace_workspace(std::vector<devplace::detail::memory_block>& blocks, const std::vector<int>& ordinals,
                       std::size_t k, std::size_t bytes) {
  blocks[k] = {};
  devplace::detail::on_behalf_of_replica<Backend>(k, blocks.size(), ordinals[k], [&] {
    blocks[k] = devplace::detail::allocate<Backend>(ordinals[k], bytes, memory_purpose::workspace);
  });
}

/// The devices of an engine in one process, with an event and a side stream for each: orders the devices' work, copies
/// between them, and has memory for elements of other devices.
template <class Backend> class rank_devices {
 public:
  /// `needs_memory`: returns whether the devices need memory for elements of other devices. Called when the devices are
  /// known to exist.
  rank_devices(std::span<const int> ordinals, bool (*needs_memory)(std::span<const int>)) try
      : ordinals_(ordinals.begin(), ordinals.end()), begins_(ordinals.size() + 1), streams_(ordinals) {
    check_devices(ordinals.size(), "a communicator");
    for (const int ordinal : ordinals_) events_.push_back(devplace::detail::make_event<Backend>(ordinal));
    received_.resize(needs_memory(ordinals) ? ordinals.size() : 0);
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  int size() const { return static_cast<int>(ordinals_.size()); }
  int ordinal(int rank) const { return ordinals_[index(rank)]; }

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
    return {begins_.data(), begins_.size()};
  }

  void copy(int to, void* target, int from, const void* source, std::size_t bytes) {
    devplace::detail::copy_from_peer<Backend>(ordinal(to), target, ordinal(from), source, bytes);
  }
  template <class T> void copy(int to, T* target, int from, std::span<T* const> buffers, element_range range) {
    copy(to, target, from, buffers[index(from)] + range.first, range.size() * sizeof(T));
  }
  /// Copies a range of a buffer from rank `from` to the same range of rank `to`'s buffer.
  template <class T> void copy(int to, int from, std::span<T* const> buffers, element_range range) {
    copy(to, buffers[index(to)] + range.first, from, buffers, range);
  }

  bool receives() const { return !received_.empty(); }
  template <class T> T* received(int rank) const { return static_cast<T*>(received_[index(rank)].data()); }
  /// Allocates memory for received elements on each device that does not have enough. Throws if a collective is being
  /// started: memory must not be allocated or freed on side streams.
  void reserve_received(std::size_t bytes) {
    for (std::size_t k = 0; k != received_.size(); ++k) {
      if (received_[k].bytes() >= bytes) continue;
      check_prepared(!streams_.running());
      replace_workspace<Backend>(received_, ordinals_, k, bytes);
    }
  }

  side_streams<Backend>& streams() { return streams_; }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<int> ordinals_;
  std::vector<devplace::detail::event_handle> events_;
  std::vector<std::size_t> begins_;
  side_streams<Backend> streams_;
  std::vector<devplace::detail::memory_block> received_;  // one per device; empty if none is needed
};

/// Adds the members of an overlapping_communicator to `Engine`, a communicator whose collectives only enqueue work on
/// the current streams of its rank_devices, `devices_`. Started collectives are enqueued on side streams.
template <class Engine> class streamed_collectives {
 public:
  /// Collectives only enqueue work.
  static constexpr bool only_enqueues = true;
  /// The members of an overlapping_communicator (parallel/communicator.hpp).
  void mark_ready(std::size_t k) { streams().mark(k); }
  template <class T> void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    start([&] { engine().all_reduce(buffers, count, op); });
  }
  template <class T> void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    start([&] { engine().reduce(buffers, count, op, root); });
  }
  template <class T>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    start([&] { engine().reduce_scatter(buffers, begins, op); });
  }
  template <class T> void start_all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    start([&] { engine().all_gather(buffers, begins); });
  }
  void progress() {}
  void finish() { streams().join(); }
  void abandon() noexcept {
    try {
      streams().join();
    } catch (...) {  // the device is lost or out of memory; collectives that still run write to gradients only
    }
  }

 private:
  template <class F> void start(const F& collective) {
    streams().claim();
    streams().run(collective);
  }
  Engine& engine() { return static_cast<Engine&>(*this); }
  auto& streams() { return engine().devices_.streams(); }
};

}  // namespace devplace::parallel::detail
