// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/side_streams.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail {

/// Host memory for the buffers of this process's places: copies a window of each buffer at a time to pinned memory and
/// back, on side streams of the devices. On the CPU the buffers themselves are the host memory.
template <class Backend> class host_buffers {
 public:
  static constexpr bool staged = !std::is_same_v<Backend, backend::cpu>;

  explicit host_buffers(std::span<const int> ordinals)
      : streams_(ordinals), ordinals_(ordinals.begin(), ordinals.end()), windows_(ordinals.size()) {
    if constexpr (staged) {
      staged_.resize(ordinals.size());
      for (const int ordinal : ordinals) copied_.push_back(devplace::detail::make_event<Backend>(ordinal));
    }
  }

  /// Allocates pinned memory for windows of `bytes`.
  void reserve(std::size_t bytes) {
    if constexpr (staged)
      for (std::size_t k = 0; k != staged_.size(); ++k) {
        if (staged_[k].bytes() >= bytes) continue;
        wait(k);
        staged_[k] = {};
        staged_[k] = devplace::detail::allocate<backend::pinned>(0, bytes, memory_purpose::workspace);
      }
  }

  /// The host memory for element `first` of buffer k.
  template <class T> std::byte* memory(std::span<T* const> buffers, std::size_t k, std::size_t first) {
    if constexpr (staged)
      return static_cast<std::byte*>(staged_[k].data());
    else
      return reinterpret_cast<std::byte*>(buffers[k] + first);
  }
  /// The host memory of each buffer in the last start_fetch().
  std::span<std::byte* const> windows() const { return windows_; }

  /// Starts copies of the elements [first, last) of all buffers to the host.
  template <class T> void start_fetch(std::span<T* const> buffers, std::size_t first, std::size_t last) {
    for (std::size_t k = 0; k != windows_.size(); ++k) {
      windows_[k] = memory(buffers, k, first);
      fetch(buffers, k, first, last, windows_[k]);
    }
  }
  /// Starts a copy of the elements [first, last) of buffer k to `to`.
  template <class T>
  void fetch(std::span<T* const> buffers, std::size_t k, std::size_t first, std::size_t last, std::byte* to) {
    copy(k, to, buffers[k] + first, [&](int ordinal) {
      devplace::detail::copy_out_async<Backend>(ordinal, to, buffers[k] + first, (last - first) * sizeof(T));
    });
  }
  /// Starts a copy of `count` elements to buffer k, from memory() or, on the CPU, from any memory.
  template <class T>
  void put(std::span<T* const> buffers, std::size_t k, std::size_t first, const std::byte* from, std::size_t count) {
    copy(k, from, buffers[k] + first, [&](int ordinal) {
      devplace::detail::copy_in_async<Backend>(ordinal, buffers[k] + first, from, count * sizeof(T));
    });
  }

  /// Whether all copies are complete. Throws a device's failure.
  bool copied() {
    if (!copying_) return true;
    if constexpr (staged)
      for (std::size_t k = 0; k != copied_.size(); ++k)
        if (!devplace::detail::events_of<Backend>().ready(copied_[k].get(), ordinals_[k])) return false;
    wait();
    return true;
  }
  void wait() {
    if (!copying_) return;
    for (std::size_t k = 0; k != copied_.size(); ++k) wait(k);
    copying_ = false;
  }

  // These functions order the copies and the devices' other work, as side_streams does. The CPU has no pending work.
  void mark(std::size_t k) {
    if constexpr (staged) streams_.mark(k);
  }
  void claim() {
    if constexpr (staged) streams_.claim();
  }
  void follow_mark() {
    if constexpr (staged) streams_.run([] {});
  }
  void join() {
    if constexpr (staged) streams_.join();
  }

 private:
  void wait(std::size_t k) {
    on_device(k, [&](int ordinal) { devplace::detail::events_of<Backend>().wait(copied_[k].get(), ordinal); });
  }
  template <class F> void copy(std::size_t k, const void* host, const void* device, const F& enqueue) {
    if (host == device) return;
    copying_ = staged;
    if constexpr (staged)
      on_device(k, [&](int ordinal) {
        streams_.enqueue([&] {
          enqueue(ordinal);
          devplace::detail::record_event<Backend>(copied_[k]);
        });
      });
    else
      enqueue(ordinals_[k]);
  }
  template <class F> void on_device(std::size_t k, const F& f) {
    devplace::detail::on_behalf_of_replica<Backend>(k, ordinals_.size(), ordinals_[k], [&] { f(ordinals_[k]); });
  }

  side_streams<Backend> streams_;
  std::vector<int> ordinals_;
  std::vector<std::byte*> windows_;
  std::vector<devplace::detail::memory_block> staged_;
  std::vector<devplace::detail::event_handle> copied_;  ///< recorded after the copies of each device
  bool copying_ = false;                                ///< whether there were copies since the last wait
};

}  // namespace devplace::parallel::detail
