// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

template <class P> class stream;

namespace detail {

/// RAII: changes this thread's current stream on a device; has no effect on backends without streams.
class current_stream_change {
 public:
  current_stream_change(cpu_backend, int, void*) {}
  current_stream_change(any_device, int ordinal, void* stream)
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
}  // namespace devplace
