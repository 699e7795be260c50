// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail {

/// Has a side stream for each of several devices. Work on a side stream runs concurrently with the current stream,
/// after marks recorded on the current stream. Memory must not be allocated or freed on side streams. Streams and
/// events are created on first use. Does nothing on the CPU, which has no pending work.
template <class Backend> class side_streams {
 public:
  explicit side_streams(std::span<const int> ordinals) : lanes_(ordinals.size()) {
    for (std::size_t k = 0; k != lanes_.size(); ++k) lanes_[k].ordinal = ordinals[k];
  }

  /// Records a mark, which is an event, after all work enqueued on device `k` so far.
  void mark(std::size_t k) {
    lane& l = lanes_.at(k);
    if (!std::exchange(l.created, true))
      l.stream = devplace::detail::streams_of<Backend>().create_without_memory(l.ordinal);
    if (l.stream.get() != nullptr) {
      if (l.marked == l.marks.size()) l.marks.push_back(devplace::detail::make_event<Backend>(l.ordinal));
      devplace::detail::record_event<Backend>(l.marks[l.marked]);
    }
    ++l.marked;
  }

  /// Claims the oldest unclaimed mark of each device for a later run().
  void claim() {
    for (const lane& l : lanes_) check_marked(l.marked > claimed_);
    ++claimed_;
  }

  /// Calls `f()` while the side streams are the current streams.
  template <class F> void enqueue(const F& f) {
    const as_current scope(*this);
    f();
  }
  /// Orders the side streams after the oldest claimed marks that no run() has used. Then calls `f()` while the side
  /// streams are the current streams.
  template <class F> void run(const F& f) {
    const as_current scope(*this);
    for (const lane& l : lanes_)
      if (l.stream.get() != nullptr) devplace::detail::follow_event<Backend>(l.ordinal, l.marks[used_]);
    ++used_;
    f();
  }

  bool running() const { return running_; }

  /// Orders later work of the current streams after the work of the side streams, and discards all marks.
  void join() {
    for (lane& l : lanes_) l.marked = 0;
    claimed_ = 0;
    if (std::exchange(used_, 0) == 0) return;
    for (lane& l : lanes_) {
      if (l.stream.get() == nullptr) continue;
      if (l.end.get() == nullptr) l.end = devplace::detail::make_event<Backend>(l.ordinal);
      {
        const as_current scope(*this);
        devplace::detail::record_event<Backend>(l.end);
      }
      devplace::detail::follow_event<Backend>(l.ordinal, l.end);
    }
  }

 private:
  struct lane {
    int ordinal = 0;
    bool created = false;
    std::size_t marked = 0;
    devplace::detail::stream_handle stream;
    devplace::detail::event_handle end;
    std::vector<devplace::detail::event_handle> marks;
    void* replaced = nullptr;  ///< the current stream, while the side stream replaces it
  };

  class as_current {
   public:
    explicit as_current(side_streams& streams) : streams_(streams) {
      streams_.running_ = true;
      for (lane& l : streams_.lanes_)
        if (l.stream.get() != nullptr)
          l.replaced = std::exchange(devplace::detail::current_stream(l.ordinal), l.stream.get());
    }
    as_current& operator=(as_current&&) = delete;
    ~as_current() {
      streams_.running_ = false;
      for (lane& l : streams_.lanes_)
        if (l.stream.get() != nullptr) devplace::detail::current_stream(l.ordinal) = l.replaced;
    }

   private:
    side_streams& streams_;
  };

  std::vector<lane> lanes_;
  std::size_t claimed_ = 0, used_ = 0;  ///< numbers of claimed and used marks of each device
  bool running_ = false;
};

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
  std::span<std::byte* const> windows() const { return {windows_.data(), windows_.size()}; }

  template <class T> void start_fetch(std::span<T* const> buffers, std::size_t first, std::size_t last) {
    for (std::size_t k = 0; k != windows_.size(); ++k) {
      windows_[k] = memory(buffers, k, first);
      fetch(buffers, k, first, last, windows_[k]);
    }
  }
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

  /// The streams of the copies, which the caller orders with the devices' other work.
  side_streams<Backend>& streams() { return streams_; }

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
