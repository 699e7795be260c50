// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

#include <devplace/place/placement.hpp>

namespace devplace::parallel::detail {

/// Adds the members of an overlapping_communicator to `Engine`, a communicator whose collectives only enqueue work on
/// the current streams of its rank_devices, `devices_`. Started collectives are enqueued on side streams.
template <class Engine> class streamed_collectives {
 public:
  /// The members of an overlapping_communicator (parallel/communicator.hpp).
  ///@{
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
  void progress() {}
  void finish() { streams().join(); }
  void abandon() noexcept {
    try {
      streams().join();
    } catch (...) {  // the device is lost or out of memory; collectives that go on only write gradients
    }
  }
  ///@}

 private:
  template <class F> void start(const F& collective) {
    streams().claim();
    streams().run(collective);
  }
  Engine& engine() { return static_cast<Engine&>(*this); }
  auto& streams() { return engine().devices_.streams(); }
};

}  // namespace devplace::parallel::detail
