// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/detail/device_handle.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

namespace op {

/// Streams of a backend: `create`, `own`, `synchronize`, `ready`.
struct streams {};

}  // namespace op

namespace detail {

using stream_handle = device_handle<op::streams>;

/// While it lives, this thread's work for a cuda place goes to another stream; other backends have no such choice.
class current_stream_change {
 public:
  current_stream_change(cpu_backend, int, void*) {}
  current_stream_change(cuda_backend, int ordinal, void* stream)
      : slot_(&current_stream(ordinal)), previous_(std::exchange(*slot_, stream)) {}
  current_stream_change(const current_stream_change&) = delete;
  current_stream_change& operator=(const current_stream_change&) = delete;
  ~current_stream_change() {
    if (slot_ != nullptr) *slot_ = previous_;
  }

 private:
  void** slot_ = nullptr;
  void* previous_ = nullptr;
};

/// The streams of a backend, or one sentence that says how to get them.
template <class Backend>
constexpr auto streams_of() {
  static_assert(computes<Backend>,
                "devplace: pinned is memory only and has no work of its own; use a stream of the device that copies.");
  static_assert(!computes<Backend> || provided<Backend, op::streams>,
                "devplace: a stream of a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  constexpr bool have = provided<Backend, op::streams>;
  return implementation<std::conditional_t<have, Backend, backend::cpu>, op::streams>{};
}

}  // namespace detail

template <place P>
class event;

/// Named in the messages when a stream meets an event of another place.
///@{
struct CALL_before_OF_THE_EVENT_TO_ORDER_ONE_DEVICE_BEHIND_ANOTHER;
struct RECORD_IT_ON_A_STREAM_OF_ITS_OWN_PLACE;
///@}

/// A queue of work of place `P` besides the place's own, as torch.cuda.Stream: what it is given it does in order, and
/// without regard to other streams, which wait for it by events only. Work goes to it inside a stream_scope, and with
/// the functions that take a stream. Move-only. Destroying one does not wait: what it was given is done all the same.
/// On the cpu, where work is done when a call returns, it is nothing; a simulated device does all of its streams' work
/// in one order, that of the calls, which is one of those that a GPU may choose.
template <place P>
class stream {
 public:
  /// A stream of the place's device.
  template <detail::configured = detail::configuration>
  explicit stream() : handle_(detail::streams_of<backend_of_t<P>>().create(place_traits<P>::ordinal)) {}

  /// The place's own stream, where its work goes outside of every stream_scope.
  template <detail::configured = detail::configuration>
  static stream own() {
    return stream(detail::streams_of<backend_of_t<P>>().own(place_traits<P>::ordinal));
  }

  /// The stream to which this thread's work for the place goes now, as torch.cuda.current_stream: that of the innermost
  /// stream_scope, or the place's own. It owns nothing; a stream of a scope must stay.
  template <detail::configured = detail::configuration>
  static stream current() {
    if constexpr (std::is_same_v<backend_of_t<P>, backend::cuda>)
      if (void* const scoped = detail::current_stream(place_traits<P>::ordinal); scoped != nullptr)
        return stream(detail::stream_handle(scoped, place_traits<P>::ordinal, nullptr));
    return own();
  }

  /// Waits, on the host, until all that the stream was given has been done; throws what failed.
  template <detail::configured = detail::configuration>
  void synchronize() const {
    detail::streams_of<backend_of_t<P>>().synchronize(place_traits<P>::ordinal, handle_.state());
  }

  /// Whether all that the stream was given has been done, or has failed.
  template <detail::configured = detail::configuration>
  bool ready() const {
    return detail::streams_of<backend_of_t<P>>().ready(place_traits<P>::ordinal, handle_.state());
  }

  /// What the stream is given from now on it does after this event of its place (memory/event.hpp). The host goes on.
  template <detail::configured = detail::configuration>
  void wait(const event<P>& e) const {
    e.before(*this);
  }
  template <place Other, class FIX = CALL_before_OF_THE_EVENT_TO_ORDER_ONE_DEVICE_BEHIND_ANOTHER>
    requires(!std::is_same_v<P, Other>)
  void wait(const event<Other>&) const = delete;

  /// The cudaStream_t, for kernels and calls of CUDA of the program's own, by `static_cast<cudaStream_t>`; null where
  /// there is none (cpu, simulated devices).
  void* native_handle() const { return handle_.state(); }

 private:
  explicit stream(detail::stream_handle&& handle) : handle_(std::move(handle)) {}

  detail::stream_handle handle_;
};

/// Named in the message when a scope is made of a stream that ends with the statement.
struct KEEP_THE_STREAM_IN_A_VARIABLE_WHICH_OUTLIVES_THE_SCOPE;

/// While it lives, what its thread asks of the stream's place goes to that stream, as `with torch.cuda.stream(s)`:
/// operations, copies, events that are recorded or waited for, and memory, which is then given back in that stream's
/// order, however long it lives. To be destroyed by the same thread, the last one first; the stream must stay.
class stream_scope {
 public:
  /// Other places, and other threads, are not touched.
  template <place P>
  [[nodiscard]] explicit stream_scope(const stream<P>& s)
      : change_(backend_of_t<P>{}, place_traits<P>::ordinal, s.native_handle()) {}
  template <place P, class FIX = KEEP_THE_STREAM_IN_A_VARIABLE_WHICH_OUTLIVES_THE_SCOPE>
  explicit stream_scope(const stream<P>&&) = delete;

 private:
  detail::current_stream_change change_;
};

}  // namespace devplace

#include <devplace/backend/cpu/streams.hpp>
#include DEVPLACE_CUDA_STREAMS
