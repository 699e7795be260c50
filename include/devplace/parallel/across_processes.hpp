// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

#include <devplace/base/host_memory.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/started_reductions.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel {

/// The communicator of places of several processes. Each process reduces its slice of the gradients over all
/// participants and distributes the result by the group's transport. It sums in the order of `direct` or `ring` in one
/// process: 2 processes with 2 places each compute the same bits as `replicated` on 4 places. For buffers of S bytes
/// each process receives about 2 S bytes for each of its places.
///
/// The transport reads host memory directly; devices' buffers are copied through pinned memory. The calling thread
/// waits for the devices and for the other processes. progress() advances started collectives, in order, without
/// waiting; finish() completes them. No background thread is used.
template <class Backend, summation Order> class across_processes : public detail::participants {
 public:
  /// Connects these devices of this process with as many devices of each other process of the group.
  across_processes(std::span<const int> ordinals, const process_group& processes) try
      : participants(processes.transport()->ranks(), ordinals.size()), work_(ordinals, processes.transport()) {
    work_.group_transport->require_for_tensors();
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// Allocates the pinned memory for buffers of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    if (size() > 1) work_.host.reserve(std::min(work_.window(element_bytes), count) * element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    complete([&] { start_all_reduce(buffers, count, op); });
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    complete([&] { start_reduce(buffers, count, op, root); });
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(buffers.size(), root);
    in_windows<T>({"broadcast", count, sizeof(T)}, 0, [&](std::size_t first, std::size_t last) {
      const bool here = is_here(root);
      const std::size_t from = here ? work_.parts.local_of(root) : 0;
      work_.parts.all_to_process_of(root, last - first, sizeof(T));
      std::byte* const whole = work_.host.memory(buffers, from, first);
      if (here) work_.host.fetch(buffers, from, first, last, whole);
      distribute(whole, 0);
      for (std::size_t k = 0; k != work_.parts.local(); ++k)
        if (!here || k != from) work_.host.put(buffers, k, first, whole, last - first);
    });
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    complete([&] { start_reduce_scatter(buffers, begins, op); });
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(buffers.size(), begins);
    in_windows<T>({"all_gather", begins.back(), sizeof(T)}, begins.front(), [&](std::size_t first, std::size_t last) {
      work_.parts.split_at(begins, first, last, sizeof(T));
      std::byte* const whole = work_.host.memory(buffers, 0, first);
      for (std::size_t k = 0; k != work_.parts.local(); ++k) {
        const auto own = work_.parts.own(begins, k, first, last);
        work_.host.fetch(buffers, k, own.first, own.second, whole + (own.first - first) * sizeof(T));
      }
      distribute(whole, work_.parts.own_begin());
      for (std::size_t k = 0; k != work_.parts.local(); ++k) work_.host.put(buffers, k, first, whole, last - first);
    });
  }
  ///@}

  /// The members of an overlapping_communicator.
  ///@{
  void mark_ready(std::size_t k) { work_.host.streams().mark(k); }
  template <class T> void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    check(buffers.size());
    work_.start(buffers, {.operation = kind::all_reduce, .count = count, .op = op});
  }
  template <class T> void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check(root, buffers.size());
    work_.start(buffers, {.operation = kind::reduce, .count = count, .op = op, .root = root});
  }
  template <class T>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(begins, buffers.size());
    work_.start(buffers, {.operation = kind::reduce_scatter,
                          .count = begins.back(),
                          .op = op,
                          .begins = begins,
                          .first = begins.front()});
  }
  void progress() { work_.advance(false); }
  void finish() {
    work_.advance(true);
    work_.clear();
    work_.host.wait();
    work_.host.streams().join();
  }
  void abandon() noexcept {
    work_.clear();
    work_.group_transport->give_up();
    try {
      work_.host.wait();
    } catch (...) {  // the next use of the failed device reports the failure
    }
    try {
      work_.host.streams().join();
    } catch (...) {
    }
  }
  ///@}

 private:
  using work = detail::started_reductions<Backend, Order>;
  using kind = typename work::kind;

  /// Calls `start()`, which starts a collective after all earlier work of the devices. Then finishes the collective.
  template <class F> void complete(const F& start) {
    finish();  // also discards unused marks, so that start() uses the marks of the next line
    for (std::size_t k = 0; k != work_.parts.local(); ++k) mark_ready(k);
    try {
      start();
      finish();
    } catch (...) {
      abandon();
      throw;
    }
  }

  /// Calls f(first, last) for each window of the elements [begin, call.count).
  template <class T, class F> void in_windows(const collective_call& call, std::size_t begin, const F& f) {
    complete([&] {
      work_.host.streams().claim();
      work_.host.streams().run([] {});
      const announced_call announced(*work_.group_transport, call);
      if (size() == 1) return;  // the elements are the result
      const std::size_t window = work_.window(sizeof(T));
      work_.host.reserve(std::min(window, call.count) * sizeof(T));
      for (std::size_t first = begin; first < call.count; first += std::min(window, call.count - first)) {
        work_.host.wait();  // the devices may still copy the previous window
        f(first, first + std::min(window, call.count - first));
      }
    });
  }
  void distribute(std::byte* whole, std::size_t own_begin) {
    work_.host.wait();
    work_.group_transport->distribute(whole + own_begin, {&whole, 1}, work_.parts.begins());
  }

  work work_;
};

/// The communicators of `direct` and `ring` across processes.
///@{
template <class Backend> using across_by_rank = across_processes<Backend, summation::by_rank>;
template <class Backend> using across_by_ring = across_processes<Backend, summation::by_ring>;
///@}

}  // namespace devplace::parallel
