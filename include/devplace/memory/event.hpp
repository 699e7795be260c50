// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace {

namespace op {

/// Events of a backend: `create`, `record`, `follow`, `wait`, `ready`; and failures of a device: `drain`, `failures`.
struct events {};

}  // namespace op

namespace detail {

using event_handle = device_handle<op::events>;

/// Returns a backend's event functions; does not compile without the backend's component.
template <class Backend> constexpr auto events_of() {
  constexpr bool available = !computes<Backend> || provided<Backend, op::events>;
  static_assert(available,
                "devplace: an event of a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  constexpr bool implemented = provided<Backend, op::events>;
  return implementation<std::conditional_t<implemented, Backend, backend::cpu>, op::events>{};
}

/// Creates an event of a device, which counts as complete until it is recorded.
template <class Backend> event_handle make_event(int ordinal) { return events_of<Backend>().create(ordinal); }

/// Records the event: it completes when all work enqueued on its device so far is done.
template <class Backend> void record_event(const event_handle& e) { events_of<Backend>().record(e.ordinal(), e.get()); }

/// Orders future work of device `ordinal` after the last recorded point of the event. If the event's device failed
/// before that point, device `ordinal` fails too.
template <class Backend> void follow_event(int ordinal, const event_handle& e) {
  events_of<Backend>().follow(ordinal, e.get());
}

}  // namespace detail

/// Not specialised: an event without a place does not compile.
template <class P> class event {
  static constexpr bool names_place = sizeof(P*) == 0;
  static_assert(names_place, "devplace: event: name the place whose work it marks, as in event<cuda<0>>.");

 public:
  /// Declared to avoid follow-up errors.
  ///@{
  template <class... X> void record(const X&...);
  void wait() const;
  ///@}
};

/// A point in the work of place `P` for which other places and the host can wait, as torch.cuda.Event. Move-only.
/// Several threads may wait for an event; no other thread may use the event during record().
template <place P> class event<P> {
  static constexpr bool has_work = detail::computes<backend_of_t<P>>;
  static_assert(has_work,
                "devplace: pinned is memory only and has no work of its own; use the event of the device that copies.");

 public:
  /// Creates an event, which counts as complete until it is recorded.
  DEVPLACE_CONFIGURED explicit event() : handle_(detail::make_event<backend_of_t<P>>(place_traits<P>::ordinal)) {}

  /// Records the point after all work enqueued on `P` so far. Does not wait.
  DEVPLACE_CONFIGURED void record() { detail::record_event<backend_of_t<P>>(handle_); }

  /// Records the point after all work enqueued on stream `s` so far.
  template <place Other> DEVPLACE_CONFIGURED void record(const stream<Other>& s) {
    constexpr bool same_place = std::is_same_v<P, Other>;
    static_assert(same_place,
                  "devplace: event: the stream is of another device; record an event of that device, event<cuda<1>>.");
    const stream_scope on(s);
    record();
  }

  /// Whether the recorded work is done, or has failed.
  DEVPLACE_CONFIGURED bool ready() const {
    return detail::events_of<backend_of_t<P>>().ready(handle_.get(), place_traits<P>::ordinal);
  }

  /// Waits on the host until the recorded work is done; throws if `P` failed before the event.
  DEVPLACE_CONFIGURED void wait() const {
    detail::events_of<backend_of_t<P>>().wait(handle_.get(), place_traits<P>::ordinal);
  }

  /// Orders future work of `Other`, a place of the same backend, after this event, without blocking the host. If `P`
  /// failed before the event, `Other` fails too.
  template <place Other> DEVPLACE_CONFIGURED void before() const {
    static_assert(std::is_same_v<backend_of_t<P>, backend_of_t<Other>>,
                  "devplace: event::before: a device can wait for devices of its own kind only; call wait() on the "
                  "host instead.");
    if constexpr (std::is_same_v<backend_of_t<P>, backend_of_t<Other>>)
      detail::follow_event<backend_of_t<P>>(place_traits<Other>::ordinal, handle_);
  }

  /// Orders future work of the stream `s` after this event, without blocking the host.
  template <place Other> DEVPLACE_CONFIGURED void before(const stream<Other>& s) const {
    const stream_scope on(s);
    before<Other>();
  }

 private:
  detail::event_handle handle_;
};

}  // namespace devplace

#include <devplace/backend/cpu/events.hpp>
#include DEVPLACE_DEVICES(events)
