// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace detail {

/// A copy in progress on device `P`. Owns the memory of a temporary source and frees it after the copy. Stores its wait
/// function, so that the destructor is the same in every translation unit.
template <place P> class copy_in_flight {
 public:
  /// Calls `copy()`, which enqueues the copy on this thread's current stream of `P`.
  DEVPLACE_CONFIGURED copy_in_flight(memory_block&& source, const auto& copy) : source_(std::move(source)), done_() {
    copy();
    try {
      done_.record();
    } catch (...) {
      synchronize<backend_of_t<P>>(
          place_traits<P>::ordinal);  // before the source is freed; throws the device's failure
      throw;
    }
    wait_ = [](const event<P>& done) { done.wait(); };
  }
  copy_in_flight(copy_in_flight&& other) noexcept
      : source_(std::move(other.source_)), done_(std::move(other.done_)), wait_(std::exchange(other.wait_, nullptr)) {}
  copy_in_flight& operator=(copy_in_flight&& other) noexcept {
    copy_in_flight taken(std::move(other));
    std::swap(source_, taken.source_);
    std::swap(done_, taken.done_);
    std::swap(wait_, taken.wait_);
    return *this;
  }
  ~copy_in_flight() {
    try {
      wait();
    } catch (...) {  // the next use of the device reports the error
    }
  }

  void wait() {
    if (wait_ == nullptr) return;
    wait_(done_);  // throws at every call if the copy failed
    wait_ = nullptr;
    source_ = {};
  }

  const event<P>& done() const { return done_; }

 private:
  memory_block source_;
  event<P> done_;
  void (*wait_)(const event<P>&) = nullptr;  // null unless the copy is in flight
};

/// The value of a pending copy into an existing tensor, which returns no new tensor.
struct no_value {};

}  // namespace detail

/// An asynchronous copy on device `P`. to_async copies to a new tensor, which only get() or after() returns. copy_async
/// copies to an existing tensor, as pending<void, P>; do not access the tensor until the program has waited. Move-only.
/// Keeps a temporary source alive; any other source must exist unchanged until wait() or the destructor. The destructor
/// waits for the copy. Only one thread at a time may use the object.
template <class Value, place P> class [[nodiscard]] pending {
  static constexpr bool on_device = requires { requires std::is_same_v<typename Value::placement_type, P>; };
  using held = std::conditional_t<std::is_void_v<Value>, detail::no_value, Value>;

 public:
  /// For to_async and copy_async; `copy(value)` enqueues the copy on this thread's current stream.
  DEVPLACE_CONFIGURED pending(held&& value, detail::memory_block&& source, const auto& copy)
      : value_(std::move(value)), copy_(std::move(source), [&] { copy(value_); }) {}
  /// Moves the copy; assignment waits for the replaced copy.
  ///@{
  pending(pending&&) noexcept = default;
  pending& operator=(pending&& other) noexcept {
    pending taken(std::move(other));
    std::swap(value_, taken.value_);
    std::swap(used_, taken.used_);
    std::swap(copy_, taken.copy_);
    return *this;
  }
  ///@}

  /// Whether the copy is done, or has failed.
  DEVPLACE_CONFIGURED bool ready() const { return copy_.done().ready(); }

  /// Waits on the host; throws the device's failure.
  void wait() {
    copy_.wait();
    use_on_current_stream();
  }

  /// Waits on the host and returns the tensor: by value if the object is an rvalue (std::move), otherwise by reference.
  ///@{
  held get() &&
    requires(!std::is_void_v<Value>)
  {
    wait();
    return std::move(value_);
  }
  held& get() &
    requires(!std::is_void_v<Value>)
  {
    wait();
    return value_;
  }
  ///@}

  /// Orders future work of stream `s`, or of this thread's current stream, after the copy, without blocking the host.
  /// Returns a reference to a tensor on the device, for use on that stream; the tensor's memory is then freed in the
  /// stream's order. Returns nothing for a tensor in pinned memory, because the host could read the elements too early.
  ///@{
  template <place Other> DEVPLACE_CONFIGURED decltype(auto) after(const stream<Other>& s) & {
    constexpr bool same_place = std::is_same_v<P, Other>;
    static_assert(same_place, "devplace: after: the stream is of another device than the copy.");
    const stream_scope on(s);
    return after();
  }
  DEVPLACE_CONFIGURED decltype(auto) after() & {
    copy_.done().template before<P>();
    use_on_current_stream();
    if constexpr (on_device) return (value_);
  }
  void after(const auto&...) && = delete;  // nothing would own the copy; give it a name first, or call get()
  ///@}

  /// Fails to compile; without this operator, compilers would list every other operator<<.
  friend std::ostream& operator<<(std::ostream& out, const pending&) {
    detail::check_operands<pending>();
    return out;
  }

 private:
  /// The first call makes the current stream free the tensor's memory; later calls record further streams.
  void use_on_current_stream() {
    if constexpr (on_device) {
      detail::memory_block& block = detail::block_access::block(value_);
      void* const stream = detail::current_stream(place_traits<P>::ordinal);
      if (std::exchange(used_, true))
        block.record_stream(stream);
      else
        block.free_on(stream);
    }
  }

  [[no_unique_address]] held value_;
  bool used_ = false;
  detail::copy_in_flight<P> copy_;  // the last member, destroyed first: waits before the tensor is freed
};

namespace detail {
template <class Value, class P> inline constexpr rejection rejection_of<pending<Value, P>> = rejection::pending;
}  // namespace detail

}  // namespace devplace
