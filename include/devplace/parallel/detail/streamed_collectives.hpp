// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/parallel/detail/side_streams.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::parallel::detail {

/// Makes `Engine`, a communicator whose collectives only enqueue work on the current streams of its devices, an
/// overlapping_communicator: enqueues started collectives on side streams.
template <class Engine, class Backend>
class streamed_collectives {
 public:
  /// The members of an overlapping_communicator (parallel/communicator.hpp).
  ///@{
  void mark_ready(std::size_t k) { streams_.mark(k); }
  template <class T>
  void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    start([&] { engine().all_reduce(buffers, count, op); });
  }
  template <class T>
  void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
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
    } catch (...) {  // the device is lost or out of memory; unordered work writes gradients only
    }
  }
  ///@}

 protected:
  explicit streamed_collectives(std::span<const int> ordinals)
      : streams_(
            devplace::detail::naming_bad_alloc("a communicator", [&] { return side_streams<Backend>(ordinals); })) {}

  /// Throws if a collective is being started, because it needs more workspace: memory must not be allocated or freed on
  /// side streams.
  void require_prepared() const {
    if (streams_.running())
      throw argument_error(
          "communicator: a started collective needs more workspace than prepare(count, element_bytes) has allocated; "
          "call that with the largest number of elements before the first start.");
  }

 private:
  template <class F>
  void start(const F& collective) {
    streams_.claim();
    streams_.run(collective);
  }
  Engine& engine() { return static_cast<Engine&>(*this); }

  side_streams<Backend> streams_;
};

}  // namespace devplace::parallel::detail
