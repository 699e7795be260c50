// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/memory/detail/device_handle.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/device_failure.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

namespace op {

/// Events of a backend: `create`, `record`, `follow`, `wait`, `ready`, and how a device fares: `drain`, `failures`.
struct events {};

}  // namespace op

namespace detail {

using event_handle = device_handle<op::events>;

/// The events of a backend, or one sentence that says how to get them.
template <class Backend>
constexpr auto events_of() {
  static_assert(computes<Backend>,
                "devplace: pinned is memory only and has no work of its own; use the event of the device that copies.");
  static_assert(!computes<Backend> || provided<Backend, op::events>,
                "devplace: an event of a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  constexpr bool have = provided<Backend, op::events>;
  return implementation<std::conditional_t<have, Backend, backend::cpu>, op::events>{};
}

/// An event of a device, which has happened until it is recorded.
template <class Backend>
event_handle make_event(int ordinal) {
  return events_of<Backend>().create(ordinal);
}

/// The event happens when its device has done all that it was asked to so far.
template <class Backend>
void record_event(const event_handle& e) {
  events_of<Backend>().record(e.ordinal(), e.state());
}

/// What device `ordinal` is asked to from now on it does after the event as it was last recorded. If the event's device
/// has failed before, device `ordinal` fails with it.
template <class Backend>
void follow_event(int ordinal, const event_handle& e) {
  events_of<Backend>().follow(ordinal, e.state());
}

/// Waits until a device has done all it was asked to, and returns the failure that the host has not seen yet, which
/// is over then.
template <class Backend>
device_failure drain(int ordinal) {
  return events_of<Backend>().drain(ordinal);
}

/// Number of failures of a device so far.
template <class Backend>
std::uint64_t failure_count(int ordinal) {
  return events_of<Backend>().failures(ordinal);
}

}  // namespace detail

/// A point in the work of place `P`, as torch.cuda.Event: other places and the host can wait for it. Move-only.
template <place P>
class event {
 public:
  /// An event that has happened.
  template <detail::configured = detail::configuration>
  explicit event() : handle_(detail::make_event<backend_of_t<P>>(place_traits<P>::ordinal)) {}

  /// The event is now what `P` was asked to do so far. Returns at once.
  template <detail::configured = detail::configuration>
  void record() {
    detail::record_event<backend_of_t<P>>(handle_);
  }

  /// The same for what stream `s` was given so far.
  template <detail::configured = detail::configuration>
  void record(const stream<P>& s) {
    const stream_scope on(s);
    record();
  }
  template <place Other, class FIX = RECORD_IT_ON_A_STREAM_OF_ITS_OWN_PLACE>
    requires(!std::is_same_v<P, Other>)
  void record(const stream<Other>&) = delete;

  /// Whether that has been done, or has failed.
  template <detail::configured = detail::configuration>
  bool ready() const {
    return detail::events_of<backend_of_t<P>>().ready(handle_.state(), handle_.ordinal());
  }

  /// Waits, on the host, until it has been done; throws what failed on `P` before.
  template <detail::configured = detail::configuration>
  void wait() const {
    detail::events_of<backend_of_t<P>>().wait(handle_.state(), handle_.ordinal());
  }

  /// What `Other`, a place of the same backend, is asked to from now on it does after this event. The host goes on. A
  /// failure on `P` before the event becomes one of `Other` too.
  template <place Other, detail::configured = detail::configuration>
  void before() const {
    static_assert(
        std::is_same_v<backend_of_t<P>, backend_of_t<Other>>,
        "devplace: event::before: a device can wait for devices of its own kind only; call wait() on the host "
        "instead.");
    if constexpr (std::is_same_v<backend_of_t<P>, backend_of_t<Other>>)
      detail::follow_event<backend_of_t<P>>(place_traits<Other>::ordinal, handle_);
  }

  /// What the stream `s` is given from now on it does after this event. The host goes on.
  template <place Other, detail::configured = detail::configuration>
  void before(const stream<Other>& s) const {
    const stream_scope on(s);
    before<Other>();
  }

 private:
  detail::event_handle handle_;
};

}  // namespace devplace

#include <devplace/backend/cpu/events.hpp>
#include DEVPLACE_CUDA_EVENTS
