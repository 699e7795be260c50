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

/// The way of batches to one place: a stream of its own, on which they are copied from the slots of a ring in the
/// host's memory into two buffers in turn, and the events between it, the place's work and who fills the slots. The
/// place's work is that of the stream that is current where the functions are called.
template <class Backend>
class copy_lane {
 public:
  copy_lane() = default;
  copy_lane(const copy_lane&) = delete;
  copy_lane& operator=(const copy_lane&) = delete;
  /// The copies end before the slots may go.
  ~copy_lane() {
    for (std::size_t slot = 0; slot < copied_.size(); ++slot)
      wait_for(slot);
  }

  /// To be called once, when the buffers have been allocated: nothing is copied into them before the place has come to
  /// that.
  template <class Tu>
  void open(int ordinal, std::size_t slots) {
    ordinal_ = ordinal;
    stream_ = streams_of<Backend, Tu>().create(ordinal);
    for (event_handle& used : used_) {
      used = make_event<Backend, Tu>(ordinal);
      record_event<Backend, Tu>(used);
    }
    copied_.reserve(slots);
    wait_ = &wait<Tu>;
    while (copied_.size() < slots)
      copied_.push_back(make_event<Backend, Tu>(ordinal));
  }

  /// Calls `copies`, which asks for the copies from a slot into a buffer, so that the place does them after all that it
  /// was asked with the buffer's former batch, and before what it is asked from now on. Whoever was given the other
  /// buffer must have asked for all of the work with it. The host waits for nothing.
  template <class Tu, class Copies>
  void send(std::size_t slot, std::size_t buffer, const Copies& copies) {
    record_event<Backend, Tu>(used_[1 - buffer]);
    {
      const current_stream_change own_stream(Backend{}, ordinal_, stream_.state());
      follow_event<Backend, Tu>(ordinal_, used_[buffer]);
      try {
        copies();
      } catch (...) {  // some of them may be under way
        note_copies<Tu>(slot);
        throw;
      }
      note_copies<Tu>(slot);
    }
    follow_event<Backend, Tu>(ordinal_, copied_[slot]);
  }

  /// Waits, on the host, until the last copies from a slot have been done, or skipped on a device that has failed. Any
  /// thread may.
  void wait_for(std::size_t slot) const noexcept { wait_(copied_[slot]); }

 private:
  /// wait_for(slot) waits from now on for what the lane's stream, the current one, has been given so far.
  template <class Tu>
  void note_copies(std::size_t slot) {
    try {
      record_event<Backend, Tu>(copied_[slot]);
    } catch (...) {  // wait_for() cannot wait for these copies any more
      streams_of<Backend, Tu>().synchronize(ordinal_, stream_.state());
      throw;
    }
  }

  template <class Tu>
  static void wait(const event_handle& copied) noexcept {
    try {
      if (!events_of<Backend, Tu>().ready(copied.state(), copied.ordinal()))
        events_of<Backend, Tu>().wait(copied.state(), copied.ordinal());
    } catch (...) {  // the device tells those who wait for its results
    }
  }

  int ordinal_ = 0;
  stream_handle stream_;
  std::array<event_handle, 2> used_;
  std::vector<event_handle> copied_;
  void (*wait_)(const event_handle&) noexcept = nullptr;
};

}  // namespace devplace::detail
