// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/pending.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

template <class P>
concept device_place = place<P> && std::is_same_v<backend_of_t<P>, backend::device>;

/// The device that copies between two placements asynchronously; void if no device can.
template <class To, class From> struct copier : std::type_identity<void> {};
template <device_place P> struct copier<P, pinned> : std::type_identity<P> {};
template <device_place P> struct copier<pinned, P> : std::type_identity<P> {};
template <class To, class From> using copier_t = typename copier<To, From>::type;

template <class X> using placement_of_t = typename std::remove_cvref_t<X>::placement_type;

/// Whether a device copies between two placements asynchronously, and `P`, the place of a stream, is this device.
template <class To, class From, class P = copier_t<To, From>> constexpr auto check_async() {
  constexpr bool copied_by_device = !std::is_void_v<copier_t<To, From>>,
                 on_its_stream = !copied_by_device || std::is_same_v<P, copier_t<To, From>>;
  static_assert(copied_by_device,
                "devplace: copy_async, to_async: a device copies asynchronously between its memory and pinned memory "
                "only; copy(to, from) and to<Where>(x) copy between all placements, and wait.");
  static_assert(on_its_stream,
                "devplace: copy_async, to_async: the stream is of another device than the one that copies.");
  return copied_by_device && on_its_stream;
}

/// The result of a rejected asynchronous copy, which avoids follow-up errors; never called.
template <class From, class Where>
pending<tensor<typename std::remove_cvref_t<From>::value_type, typename std::remove_cvref_t<From>::extents_type, Where>,
        cuda<0>>
rejected_copy();

/// Takes the memory of a temporary source; returns an empty block for other sources, which their owners keep alive.
template <class From> memory_block kept_source(From&& source) {
  if constexpr (is_tensor<From>)  // From is not a reference: `source` is a temporary
    return block_access::take(std::move(source));
  else
    return {};
}

/// Enqueues the copy between two views on this thread's current stream of the device.
template <class To, class From> void start_copy(const To& to, const From& from) {
  const std::size_t bytes = to.size() * sizeof(typename To::value_type);
  if constexpr (in_host_memory<typename From::backend_type>)
    copy_in_async<typename To::backend_type>(to.ordinal(), raw_data(to), raw_data(from), bytes);
  else
    copy_out_async<typename From::backend_type>(from.ordinal(), raw_data(to), raw_data(from), bytes);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies elements between pinned memory and a device without blocking the host, on stream `s` of the device or on this
/// thread's current stream. Element types and extents must agree, as for `copy`. The caller must order the stream after
/// the work that wrote the source and used the destination (stream::wait). A temporary source tensor is kept alive; the
/// destination and other sources must exist until the program has waited for the result.
///@{
template <tensor_like To, tensor_like From> auto copy_async(To&& destination, From&& source) {
  constexpr bool kept = !detail::is_tensor<To>;
  static_assert(kept,
                "devplace: copy_async: the destination is a temporary tensor, whose elements the program could not "
                "read; use to_async, or pass a variable.");
  if constexpr (detail::check_async<detail::placement_of_t<To>, detail::placement_of_t<From>>() && kept) {
    using device = detail::copier_t<detail::placement_of_t<To>, detail::placement_of_t<From>>;
    const auto to = detail::as_view(destination);
    const auto from = detail::as_view(source);
    detail::require_copyable(to, from);
    return pending<void, device>({}, detail::kept_source(std::forward<From>(source)),
                                 [&](auto&) { detail::start_copy(to, from); });
  } else {
    return detail::rejected_copy<From, cuda<0>>();
  }
}
template <tensor_like To, tensor_like From, place P>
auto copy_async(To&& destination, From&& source, const stream<P>& s) {
  if constexpr (detail::check_async<detail::placement_of_t<To>, detail::placement_of_t<From>, P>()) {
    const stream_scope on(s);
    return copy_async(std::forward<To>(destination), std::forward<From>(source));
  } else {
    return detail::rejected_copy<From, cuda<0>>();
  }
}
///@}

/// Copies a tensor or view from a device to a new tensor in pinned memory, or from pinned memory to a device; `Where`
/// is the new place. Does not block the host; copies on stream `s` of the device or on this thread's current stream.
/// `get()` or `after(stream)` of the result gives access to the tensor. A source on the device is read after the work
/// enqueued so far on this thread's current stream. A temporary source tensor is kept alive. Other sources must exist
/// unchanged until the program has waited for the result.
///@{
template <class Where = void, tensor_like From> auto to_async(From&& source) {
  using source_type = std::remove_cvref_t<From>;
  constexpr bool names_place = single_place<Where>;
  static_assert(names_place, "devplace: to_async: name the place in angle brackets, as in to_async<cuda<0>>(x).");
  if constexpr (!names_place) {
    return detail::rejected_copy<From, cuda<0>>();
  } else if constexpr (!detail::check_async<Where, detail::placement_of_t<From>>()) {
    return detail::rejected_copy<From, Where>();
  } else {
    using device = detail::copier_t<Where, typename source_type::placement_type>;
    using result_type = tensor<typename source_type::value_type, typename source_type::extents_type, Where>;
    const auto from = detail::as_view(source);
    result_type result(from.extents());  // Before the source is taken, so that a failure leaves the source intact.
    return pending<result_type, device>(std::move(result), detail::kept_source(std::forward<From>(source)),
                                        [&](result_type& to) { detail::start_copy(to.view(), from); });
  }
}
template <class Where = void, tensor_like From, place P> auto to_async(From&& source, const stream<P>& s) {
  using source_type = std::remove_cvref_t<From>;
  if constexpr (!single_place<Where>) {
    return to_async<Where>(std::forward<From>(source));
  } else if constexpr (detail::check_async<Where, detail::placement_of_t<From>, P>()) {
    if constexpr (std::is_same_v<P, typename source_type::placement_type>) {
      event<P> written{};
      written.record();
      written.before(s);
      if constexpr (detail::is_tensor<source_type>) source.record_stream(s);
    }
    const stream_scope on(s);
    return to_async<Where>(std::forward<From>(source));
  } else {
    return detail::rejected_copy<From, Where>();
  }
}
///@}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
