// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/parallel/detail/side_streams.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail {

/// Adds the members of an overlapping_communicator to `Engine`, a communicator whose collectives only enqueue work on
/// the current streams of its devices. Started collectives are enqueued on side streams.
template <class Engine, class Backend> class streamed_collectives : public rank_devices<Backend> {
 public:
  /// The members of an overlapping_communicator (parallel/communicator.hpp).
  ///@{
  void mark_ready(std::size_t k) { streams_.mark(k); }
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
  void progress() {}
  void finish() { streams_.join(); }
  void abandon() noexcept {
    try {
      streams_.join();
    } catch (...) {  // the device is lost or out of memory; collectives that go on only write gradients
    }
  }
  ///@}

 protected:
  /// `needs_memory`: returns whether the devices need memory for elements of other devices. Called when the devices are
  /// known to exist.
  streamed_collectives(std::span<const int> ordinals, bool (*needs_memory)(std::span<const int>))
      : rank_devices<Backend>(ordinals),
        streams_(devplace::detail::naming_bad_alloc("a communicator", [&] { return side_streams<Backend>(ordinals); })),
        received_(devplace::detail::naming_bad_alloc("a communicator", [&] {
          return std::vector<devplace::detail::memory_block>(needs_memory(ordinals) ? ordinals.size() : 0);
        })) {}

  bool receives() const { return !received_.empty(); }
  template <class T> T* received(int rank) const { return static_cast<T*>(received_[this->index(rank)].data()); }
  /// Allocates memory for received elements on each device that does not have enough. Throws if a collective is being
  /// started: memory must not be allocated or freed on side streams.
  void reserve_received(std::size_t bytes) {
    for (std::size_t k = 0; k != received_.size(); ++k) {
      if (received_[k].bytes() >= bytes) continue;
      check_prepared(!streams_.running());
      received_[k] = {};
      const int ordinal = this->ordinal(static_cast<int>(k));
      devplace::detail::on_behalf_of_replica<Backend>(k, received_.size(), ordinal, [&] {
        received_[k] = devplace::detail::allocate<Backend>(ordinal, bytes, memory_purpose::workspace);
      });
    }
  }

 private:
  template <class F> void start(const F& collective) {
    streams_.claim();
    streams_.run(collective);
  }
  Engine& engine() { return static_cast<Engine&>(*this); }

  side_streams<Backend> streams_;
  std::vector<devplace::detail::memory_block> received_;  // one per device; empty if none is needed
};

}  // namespace devplace::parallel::detail
