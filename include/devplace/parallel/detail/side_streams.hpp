// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/parallel/detail/check_collective.hpp>

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
    if (l.stream != nullptr) {
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
  /// Orders the side streams after the oldest claimed marks that no run() has used. Then calls `f()` as enqueue() does.
  template <class F> void run(const F& f) {
    const as_current scope(*this);
    for (const lane& l : lanes_)
      if (l.stream != nullptr) devplace::detail::follow_event<Backend>(l.ordinal, l.marks[used_]);
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
      if (l.stream == nullptr) continue;
      if (l.end == nullptr) l.end = devplace::detail::make_event<Backend>(l.ordinal);
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
        if (l.stream != nullptr)
          l.replaced = std::exchange(devplace::detail::current_stream(l.ordinal), l.stream.get());
    }
    as_current& operator=(as_current&&) = delete;
    ~as_current() {
      streams_.running_ = false;
      for (lane& l : streams_.lanes_)
        if (l.stream != nullptr) devplace::detail::current_stream(l.ordinal) = l.replaced;
    }

   private:
    side_streams& streams_;
  };

  std::vector<lane> lanes_;
  std::size_t claimed_ = 0, used_ = 0;  ///< numbers of claimed and used marks of each device
  bool running_ = false;
};

}  // namespace devplace::parallel::detail
