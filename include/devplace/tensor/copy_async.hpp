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

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Appear in the compiler's message for an asynchronous copy between placements that allow none.
///@{
struct COPY_BETWEEN_pinned_AND_THE_DEVICE_OR_USE_to_AND_copy_WHICH_WAIT;
struct USE_to_OR_copy_WHERE_NO_DEVICE_COPIES_FROM_OR_TO_pinned;
struct USE_to_OR_copy_BETWEEN_DEVICES;
///@}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// `type`: the device that can copy between two placements asynchronously; or `fix`: what to do where there is none.
template <class To, class From>
struct copier {
  using fix = USE_to_OR_copy_WHERE_NO_DEVICE_COPIES_FROM_OR_TO_pinned;
};
template <int I>
struct copier<on<cuda<I>>, on<pinned>> {
  using type = cuda<I>;
};
template <int I>
struct copier<on<pinned>, on<cuda<I>>> {
  using type = cuda<I>;
};
template <int I>
struct copier<on<cuda<I>>, on<cpu>> {
  using fix = COPY_BETWEEN_pinned_AND_THE_DEVICE_OR_USE_to_AND_copy_WHICH_WAIT;
};
template <int I>
struct copier<on<cpu>, on<cuda<I>>> : copier<on<cuda<I>>, on<cpu>> {};
template <int I, int J>
struct copier<on<cuda<I>>, on<cuda<J>>> {
  using fix = USE_to_OR_copy_BETWEEN_DEVICES;
};
template <class To, class From>
using copier_t = typename copier<To, From>::type;
template <class To, class From>
concept copied_by_device = requires {
  typename copier_t<To, From>;
};

template <class X>
using placement_of_t = typename std::remove_cvref_t<X>::placement_type;

/// What a refused asynchronous copy returns, so that its uses give no more errors.
template <class From, class Where>
using refused_copy = pending<
    tensor<typename std::remove_cvref_t<From>::value_type, typename std::remove_cvref_t<From>::extents_type, Where>,
    cuda<0>>;

/// Takes the memory of a temporary source; an empty block for other sources, which their owners keep alive.
template <class From>
memory_block kept_source(From&& source) {
  if constexpr (is_tensor<From>)  // not a reference type: a temporary
    return block_access::take(std::move(source));
  else
    return {};
}

/// Enqueues the copy between two views on this thread's current stream of the device.
template <class To, class From>
void start_copy(const To& to, const From& from) {
  const std::size_t bytes = to.size() * sizeof(typename To::value_type);
  if constexpr (in_host_memory<typename From::backend_type>)
    copy_in_async<typename To::backend_type>(to.ordinal(), raw_data(to), raw_data(from), bytes);
  else
    copy_out_async<typename From::backend_type>(from.ordinal(), raw_data(to), raw_data(from), bytes);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies elements between pinned memory and a device without blocking the host, on stream `s` of the device or on this
/// thread's current one. Element types and extents must agree as for `copy`. The caller must order the stream after the
/// work that wrote the source and used the destination (stream::wait). A temporary source tensor is kept alive; the
/// destination and other sources must exist until the result has been waited for.
///@{
template <tensor_like To, tensor_like From>
  requires detail::copied_by_device<detail::placement_of_t<To>, detail::placement_of_t<From>>
auto copy_async(To&& destination, From&& source) {
  static_assert(!detail::is_tensor<To>,
                "devplace: copy_async: the destination is a temporary tensor, whose elements nobody could read; use "
                "to_async, or pass a variable.");
  using device = detail::copier_t<detail::placement_of_t<To>, detail::placement_of_t<From>>;
  const auto to = detail::as_view(destination);
  const auto from = detail::as_view(source);
  detail::require_copyable(to, from);
  return pending<void, device>({}, detail::kept_source(std::forward<From>(source)),
                               [&](auto&) { detail::start_copy(to, from); });
}
template <tensor_like To, tensor_like From>
  requires detail::copied_by_device<detail::placement_of_t<To>, detail::placement_of_t<From>>
auto copy_async(To&& destination, From&& source,
                const stream<detail::copier_t<detail::placement_of_t<To>, detail::placement_of_t<From>>>& s) {
  const stream_scope on(s);
  return copy_async(std::forward<To>(destination), std::forward<From>(source));
}
///@}

/// A tensor on `Where`, a device or pinned memory, with the elements of a tensor or view on the other of the two,
/// copied without blocking the host on stream `s` of the device or on this thread's current one. It is accessible once
/// it has been waited for (`get()`, `after(stream)`). A source on the device is read after the work that this thread's
/// current stream has so far. A temporary source tensor is kept alive; others must exist unchanged.
///@{
template <single_place Where, tensor_like From>
  requires detail::copied_by_device<Where, detail::placement_of_t<From>>
auto to_async(From&& source) {
  using source_type = std::remove_cvref_t<From>;
  using device = detail::copier_t<Where, typename source_type::placement_type>;
  using result_type = tensor<typename source_type::value_type, typename source_type::extents_type, Where>;
  const auto from = detail::as_view(source);
  result_type result(from.extents());  // before the source is taken, so that a failure leaves it intact
  return pending<result_type, device>(std::move(result), detail::kept_source(std::forward<From>(source)),
                                      [&](result_type& to) { detail::start_copy(to.view(), from); });
}
template <single_place Where, tensor_like From>
  requires detail::copied_by_device<Where, detail::placement_of_t<From>>
auto to_async(From&& source, const stream<detail::copier_t<Where, detail::placement_of_t<From>>>& s) {
  using source_type = std::remove_cvref_t<From>;
  if constexpr (!host_accessible<typename source_type::placement_type>) {
    event<detail::copier_t<Where, typename source_type::placement_type>> written{};
    written.record();
    written.before(s);
    if constexpr (detail::is_tensor<source_type>) source.record_stream(s);
  }
  const stream_scope on(s);
  return to_async<Where>(std::forward<From>(source));
}
///@}

// Refused; a stream argument may follow.
template <tensor_like To, tensor_like From,
          class FIX = typename detail::copier<detail::placement_of_t<To>, detail::placement_of_t<From>>::fix,
          class... Stream>
detail::refused_copy<From, cuda<0>> copy_async(To&&, From&&, const Stream&...) DEVPLACE_REFUSED(
    "copy_async: a device copies asynchronously between its memory and pinned memory only; copy(to, from) copies "
    "between all placements, and waits.");
template <single_place Where, tensor_like From,
          class FIX = typename detail::copier<Where, detail::placement_of_t<From>>::fix, class... Stream>
detail::refused_copy<From, Where> to_async(From&&, const Stream&...) DEVPLACE_REFUSED(
    "to_async: a device copies asynchronously between its memory and pinned memory only; to<Where>(x) copies between "
    "all placements, and waits.");
template <class FIX = NAME_A_STREAM_OF_THE_DEVICE_THAT_COPIES, tensor_like To, tensor_like From, place Other>
  requires(!std::is_same_v<Other, detail::copier_t<detail::placement_of_t<To>, detail::placement_of_t<From>>>)
detail::refused_copy<From, cuda<0>> copy_async(To&&, From&&, const stream<Other>&)
DEVPLACE_REFUSED("copy_async: the stream is of another device than the one that copies.");
template <single_place Where, class FIX = NAME_A_STREAM_OF_THE_DEVICE_THAT_COPIES, tensor_like From, place Other>
  requires(!std::is_same_v<Other, detail::copier_t<Where, detail::placement_of_t<From>>>)
detail::refused_copy<From, Where> to_async(From&&, const stream<Other>&)
DEVPLACE_REFUSED("to_async: the stream is of another device than the one that copies.");

/// Appears in the compiler's message for a `to_async` without a placement.
struct NAME_THE_PLACE_AS_IN_to_async_cuda_0_OF_x;
template <class FIX = NAME_THE_PLACE_AS_IN_to_async_cuda_0_OF_x, tensor_like From, class... Stream>
  requires(!placement<FIX>)
detail::refused_copy<From, cuda<0>> to_async(const From&, const Stream&...)
DEVPLACE_REFUSED("to_async: name the place in angle brackets, as in to_async<cuda<0>>(x).");

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
