// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/place/placement.hpp>
#include <devplace/tensor/pending.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The device that copies between two placements asynchronously; void if no device can.
template <class To, class From> struct copier {
  using type = void;
};
template <place P>
  requires std::is_same_v<backend_of_t<P>, backend::device>
struct copier<on<P>, on<pinned>> {
  using type = P;
};
template <place P>
  requires std::is_same_v<backend_of_t<P>, backend::device>
struct copier<on<pinned>, on<P>> {
  using type = P;
};
template <class To, class From> using copier_t = typename copier<To, From>::type;

template <class X> using placement_of_t = typename std::remove_cvref_t<X>::placement_type;

/// Whether a device copies between two placements asynchronously.
template <class To, class From> constexpr auto check_async() {
  constexpr bool copied_by_device = !std::is_void_v<copier_t<To, From>>;
  static_assert(copied_by_device,
                "devplace: copy_async, to_async: a device copies asynchronously between its memory and pinned memory "
                "only; copy(to, from) and to<Where>(x) copy between all placements, and wait.");
  return copied_by_device;
}

/// Whether `P`, the place of a stream, is the copying device. check_async() rejects copies that no device makes.
template <class P, class To, class From> constexpr auto check_stream() {
  constexpr bool copies = std::is_same_v<P, copier_t<To, From>> || std::is_void_v<copier_t<To, From>>;
  static_assert(copies, "devplace: copy_async, to_async: the stream is of another device than the one that copies.");
  return copies;
}

/// The result of a rejected asynchronous copy, which avoids follow-up errors; never called.
template <class From, class Where>
pending<tensor<typename std::remove_cvref_t<From>::value_type, typename std::remove_cvref_t<From>::extents_type, Where>,
        cuda<0>>
rejected_copy();

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
