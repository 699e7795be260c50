// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

namespace op {

/// Streams of a backend: `create`, `create_without_memory` (a stream on which nothing is allocated or freed), `own`,
/// `synchronize`, `ready`.
struct streams {};

}  // namespace op

namespace detail {

/// Sole owner of an event, stream or descriptor that a backend created for a device; `Kind` makes events and streams
/// different types. Stores the release function, as memory_block does, so that the size is the same in every
/// translation unit. A class of its own, because std::unique_ptr and vectors of it take several times as long to
/// compile.
template <class Kind> class device_handle {
 public:
  using release_function = void (*)(void* state, int ordinal) noexcept;

  device_handle() = default;
  /// `release` is null if the state has another owner.
  device_handle(void* state, int ordinal, release_function release)
      : state_(state), release_(release), ordinal_(ordinal) {}
  device_handle(device_handle&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), release_(other.release_), ordinal_(other.ordinal_) {}
  device_handle& operator=(device_handle other) noexcept {
    std::swap(state_, other.state_);
    std::swap(release_, other.release_);
    std::swap(ordinal_, other.ordinal_);
    return *this;
  }
  ~device_handle() {
    if (state_ != nullptr && release_ != nullptr) release_(state_, ordinal_);
  }

  void* get() const { return state_; }
  int ordinal() const { return ordinal_; }

 private:
  void* state_ = nullptr;
  release_function release_ = nullptr;
  int ordinal_ = 0;
};

using stream_handle = device_handle<op::streams>;

/// Returns a backend's stream functions; does not compile without the backend's component.
template <class Backend> constexpr auto streams_of() {
  constexpr bool available = !computes<Backend> || provided<Backend, op::streams>;
  static_assert(available,
                "devplace: a stream of a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  constexpr bool implemented = provided<Backend, op::streams>;
  return implementation<std::conditional_t<implemented, Backend, backend::cpu>, op::streams>{};
}

}  // namespace detail

template <class P = void> class event;

/// Not specialised: a stream without a place does not compile.
template <class P = void> class stream {
  static constexpr bool names_place = sizeof(P*) == 0;
  static_assert(names_place, "devplace: stream: name the place whose queue it is, as in stream<cuda<0>>.");

 public:
  /// Declared to avoid follow-up errors.
  ///@{
  void synchronize() const;
  template <class X> void wait(const X&) const;
  ///@}
};

/// A queue of work of place `P` besides the place's own stream, as torch.cuda.Stream. Executes its work in order, and
/// concurrently with other streams unless events order them. A stream_scope, and functions that take a stream, enqueue
/// work on it. Move-only. The destructor does not wait; enqueued work is still executed. On the cpu, a stream does
/// nothing, because work is complete when a call returns. A simulated device executes the work of all its streams in
/// the order of the calls, which is one of the orders that a GPU may choose. Several threads may enqueue on one stream,
/// in the order of their calls; moving a stream is not thread-safe.
template <place P> class stream<P> {
  static constexpr bool has_work = detail::computes<backend_of_t<P>>;
  static_assert(has_work,
                "devplace: pinned is memory only and has no work of its own; use a stream of the device that copies.");

 public:
  /// Creates a stream of the place's device. Takes no arguments.
  template <class... Other>
  DEVPLACE_CONFIGURED explicit stream(const Other&...)
      : handle_(detail::streams_of<backend_of_t<P>>().create(place_traits<P>::ordinal)) {
    constexpr bool no_arguments = sizeof...(Other) == 0;
    static_assert(no_arguments,
                  "devplace: stream: a stream is made without arguments; it has no priority, and does not take over a "
                  "cudaStream_t. native_handle() is its own cudaStream_t.");
  }

  /// Moves the stream.
  ///@{
  stream(stream&&) noexcept = default;
  stream& operator=(stream&&) noexcept = default;
  ///@}

  /// The place's own stream, which is used outside of every stream_scope.
  DEVPLACE_CONFIGURED static stream own() {
    return stream(detail::streams_of<backend_of_t<P>>().own(place_traits<P>::ordinal));
  }

  /// This thread's current stream for the place, as torch.cuda.current_stream: the stream of the innermost
  /// stream_scope, or the place's own. Returns a non-owning handle; the scope's stream must outlive the handle.
  DEVPLACE_CONFIGURED static stream current() {
    // Higher ordinals name no device, which own() reports.
    if constexpr (std::is_same_v<backend_of_t<P>, backend::device> &&
                  place_traits<P>::ordinal < detail::counted_ordinals)
      if (void* const scoped = detail::current_stream(place_traits<P>::ordinal); scoped != nullptr)
        return stream(detail::stream_handle(scoped, place_traits<P>::ordinal, nullptr));
    return own();
  }

  /// Waits on the host for all work of the stream; throws if the work failed.
  DEVPLACE_CONFIGURED void synchronize() const {
    detail::streams_of<backend_of_t<P>>().synchronize(place_traits<P>::ordinal, handle_.get());
  }

  /// Whether all work of the stream is done, or has failed.
  DEVPLACE_CONFIGURED bool ready() const {
    return detail::streams_of<backend_of_t<P>>().ready(place_traits<P>::ordinal, handle_.get());
  }

  /// Orders the stream's future work after an event of its place (memory/event.hpp), without blocking the host.
  template <place Other> DEVPLACE_CONFIGURED void wait(const event<Other>& e) const {
    constexpr bool same_place = std::is_same_v<P, Other>;
    static_assert(same_place,
                  "devplace: stream: the event is of another device; call event.before<place>() to order a device "
                  "after the event.");
    if constexpr (same_place) e.before(*this);
  }

  /// Returns the CUDA stream for the program's own kernels and CUDA calls; convert the result by
  /// `static_cast<cudaStream_t>`. Null on the cpu and on simulated devices. A layer calls it in each pass, because the
  /// call launches the work before the layer, which a trainer collects for a graph (step_launches).
  DEVPLACE_CONFIGURED void* native_handle() const {
    return detail::streams_of<backend_of_t<P>>().native(handle_.get());
  }

 private:
  explicit stream(detail::stream_handle&& handle) : handle_(std::move(handle)) {}

  detail::stream_handle handle_;
};

namespace detail {

/// RAII: changes this thread's current stream on a device; has no effect on backends without streams.
class current_stream_change {
 public:
  current_stream_change(cpu_backend, int, void*) {}
  current_stream_change(any_device, int ordinal, void* stream)
      : slot_(&current_stream(ordinal)), previous_(std::exchange(*slot_, stream)) {}
  current_stream_change& operator=(current_stream_change&&) = delete;
  ~current_stream_change() {
    if (slot_ != nullptr) *slot_ = previous_;
  }

 private:
  void** slot_ = nullptr;
  void* previous_ = nullptr;
};

/// The place of a stream, or of a class derived from one.
template <place P> std::type_identity<P> place_of_stream(const stream<P>&);
template <class X> inline constexpr bool is_stream_type = requires(const X& x) { place_of_stream(x); };

/// Makes a stream the current one; `Stream` is deduced from a forwarding reference.
template <class Stream> current_stream_change change_to(const std::remove_reference_t<Stream>& s) {
  constexpr bool is_stream = is_stream_type<std::remove_cvref_t<Stream>>;
  constexpr bool kept = !is_stream || std::is_lvalue_reference_v<Stream>;
  static_assert(is_stream,
                "devplace: stream_scope: the argument is a stream in a variable, as in stream<cuda<0>> s; "
                "stream_scope use(s). A place needs no scope: it is in the types of the tensors.");
  static_assert(kept,
                "devplace: stream_scope: the temporary stream would be destroyed before the scope; keep it in a "
                "variable.");
  if constexpr (is_stream) {
    using P = typename decltype(place_of_stream(s))::type;
    return {backend_of_t<P>{}, place_traits<P>::ordinal, s.native_handle()};
  } else {
    return {backend::cpu{}, 0, nullptr};
  }
}

}  // namespace detail

/// RAII: makes a stream the current one of its place for this thread, as `with torch.cuda.stream(s)`. Affects
/// operations, copies, events and allocations. Memory allocated in a scope is freed in this stream's order. The thread
/// that constructs scopes must destroy them, in reverse order; the stream must outlive the scope.
class stream_scope {
 public:
  /// `s` must be a variable. Other places and other threads are not affected.
  template <class Stream> [[nodiscard]] explicit stream_scope(Stream&& s) : change_(detail::change_to<Stream>(s)) {}

 private:
  detail::current_stream_change change_;
};

}  // namespace devplace

#include <devplace/backend/cpu/streams.hpp>
#include DEVPLACE_DEVICES(streams)
