// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::detail {

/// Copies batches to one place, from a ring of slots in host memory into two alternating buffers. Owns the stream of
/// the copies, and events that order the copies with the place's work (on the calling thread's current stream) and with
/// the threads that fill the slots.
class copy_lane {
 public:
  copy_lane() = default;
  copy_lane(const copy_lane&) = delete;
  copy_lane& operator=(const copy_lane&) = delete;
  /// Waits for the copies, since the slots are freed next.
  ~copy_lane() {
    for (std::size_t slot = 0; slot < copied_.size(); ++slot) wait_for(slot);
  }

  /// Call open() once, after the buffers were allocated. The first copy into a buffer then waits for the work enqueued
  /// on the place's stream before open(), including the allocation.
  template <class Backend> void open(int ordinal, std::size_t slots) {
    ordinal_ = ordinal;
    stream_ = streams_of<Backend>().create(ordinal);
    for (event_handle& used : used_) {
      used = make_event<Backend>(ordinal);
      record_event<Backend>(used);
    }
    copied_.reserve(slots);
    wait_ = &wait<Backend>;
    while (copied_.size() < slots) copied_.push_back(make_event<Backend>(ordinal));
  }

  /// Calls `copies`, which enqueues copies from a slot into a buffer on the lane's stream. They run after the place's
  /// work on the buffer's previous batch and before the place's later work. Enqueue all work on the other buffer before
  /// this call. The host does not wait.
  template <class Backend, class Copies> void send(std::size_t slot, std::size_t buffer, const Copies& copies) {
    record_event<Backend>(used_[1 - buffer]);
    {
      const current_stream_change own_stream(Backend{}, ordinal_, stream_.get());
      follow_event<Backend>(ordinal_, used_[buffer]);
      try {
        copies();
      } catch (...) {  // some copies may have been enqueued
        note_copies<Backend>(slot);
        throw;
      }
      note_copies<Backend>(slot);
    }
    follow_event<Backend>(ordinal_, copied_[slot]);
  }

  /// Waits on the host until the last copies from a slot are done, or skipped on a failed device. Callable from any
  /// thread.
  void wait_for(std::size_t slot) const noexcept { wait_(copied_[slot]); }

 private:
  /// Makes wait_for(slot) wait for the work enqueued so far on the lane's stream, which must be the current stream.
  template <class Backend> void note_copies(std::size_t slot) {
    try {
      record_event<Backend>(copied_[slot]);
    } catch (...) {  // wait_for() cannot use the event to wait for these copies
      streams_of<Backend>().synchronize(ordinal_, stream_.get());
      throw;
    }
  }

  template <class Backend> static void wait(const event_handle& copied) noexcept {
    try {
      if (!events_of<Backend>().ready(copied.get(), copied.get_deleter().ordinal))
        events_of<Backend>().wait(copied.get(), copied.get_deleter().ordinal);
    } catch (...) {  // reported to callers that wait for the device's results
    }
  }

  int ordinal_ = 0;
  stream_handle stream_;
  std::array<event_handle, 2> used_;
  std::vector<event_handle> copied_;
  void (*wait_)(const event_handle&) noexcept = nullptr;
};

}  // namespace devplace::detail
