// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

/// Whether this is memory of elements, as a span.
template <class Source>
concept elements_source = requires(Source& source) {
  requires is_element<typename decltype(std::span(source))::value_type>;
};

template <class Where>
constexpr void check_wrapped_on_device() {
  constexpr bool on_device = !place<Where> || !host_accessible<Where>;
  static_assert(on_device,
                "devplace: wrap: the pointer is of a device's memory, which the host does not reach; name the device, "
                "as in wrap<cuda<0>>(pointer, extents).");
}

/// Whether a container's memory can only be the host's: a device's or managed memory comes as a span, or from an
/// allocator of its own.
template <class Source>
inline constexpr bool is_host_container = std::is_array_v<Source> || requires {
  requires std::is_same_v<typename Source::allocator_type, std::allocator<typename Source::value_type>>;
};
template <class T, std::size_t N>
inline constexpr bool is_host_container<std::array<T, N>> = true;

[[noreturn]] inline void throw_wrapped_size(std::size_t given, std::span<const std::size_t> extents,
                                            std::size_t needed) {
  throw shape_error("wrap: " + std::to_string(given) + " elements were given for a view of " + sizes_text(extents) +
                    (needed == SIZE_MAX
                         ? ", whose strides reach further than memory does; strides count from 0, and none is negative."
                         : ", which takes " + std::to_string(needed) + "."));
}

}  // namespace detail

/// Appears in the compiler's message for a wrap whose extents are missing or not a type.
struct GIVE_MEMORY_OF_ELEMENTS_THEN_extents;

/// A view of the program's own memory, which is ordinary host memory unless another place is given, as in
/// `wrap<on<cuda<0>>>(pointer, extents<dyn, 3>{n})`. The elements are row-major, or have `strides`, a number of
/// elements per axis, none negative: `wrap(pointer, extents<2, 3>{}, {1, 2})` is a column-major matrix. The memory must
/// outlive the view; in a view that is written, no two positions may be the same element. Nothing is copied:
/// `to<on<cuda<0>>>(wrap(values, extents<dyn, 3>{n}))` is a tensor with a copy. Memory of a device may be given by a
/// device_pointer too.
///@{
template <view_placement Where = on<cpu>, class T, extents_like Extents>
  requires(detail::is_element<std::remove_const_t<T>>)
constexpr auto wrap(T* data, const Extents& extents) {
  return view<T, Extents, Where>(data, extents);
}
template <view_placement Where = on<cpu>, class T, extents_like Extents>
  requires(detail::is_element<std::remove_const_t<T>>)
constexpr auto wrap(T* data, const Extents& extents, const std::array<std::size_t, Extents::rank>& strides) {
  return view<T, Extents, Where, strided>(data, extents, strides);
}
template <view_placement Where = on<cpu>, class T, extents_like Extents>
constexpr auto wrap(device_pointer<T> data, const Extents& extents) {
  detail::check_wrapped_on_device<Where>();
  return wrap<Where>(data.get(), extents);
}
template <view_placement Where = on<cpu>, class T, extents_like Extents>
constexpr auto wrap(device_pointer<T> data, const Extents& extents,
                    const std::array<std::size_t, Extents::rank>& strides) {
  detail::check_wrapped_on_device<Where>();
  return wrap<Where>(data.get(), extents, strides);
}
///@}

/// The same for anything that converts to std::span: a std::vector, an array, a span. Not for a temporary vector, whose
/// memory the view would outlive. Only a span may be of a device's memory. Throws shape_error unless the number of
/// elements is exactly that of the extents or, with strides, at least what they span.
///@{
template <view_placement Where = on<cpu>, detail::elements_source Source, extents_like Extents>
constexpr auto wrap(Source&& source, const Extents& extents) {
  const std::span elements(source);
  using value_type = typename std::remove_const_t<decltype(elements)>::element_type;
  static_assert(
      std::is_lvalue_reference_v<Source> || std::is_same_v<std::remove_cvref_t<Source>, std::span<value_type>>,
      "devplace: wrap: a temporary would be gone before the view; give it a name first.");
  constexpr bool reached =
      host_accessible<Where> || !place<Where> || !detail::is_host_container<std::remove_cvref_t<Source>>;
  static_assert(reached,
                "devplace: wrap: the container is in host memory and the place is a device; to<cuda<0>>(wrap(values, "
                "extents)) copies it there, and wrap<cuda<0>>(pointer, extents) takes memory of the device.");
  if (elements.size() != extents.size())
    detail::throw_wrapped_size(elements.size(), detail::sizes_of(extents), extents.size());
  return wrap<Where>(elements.data(), extents);
}
template <view_placement Where = on<cpu>, detail::elements_source Source, extents_like Extents>
constexpr auto wrap(Source&& source, const Extents& extents, const std::array<std::size_t, Extents::rank>& strides) {
  const std::size_t needed = detail::spanned(detail::sizes_of(extents), strides);
  const std::span elements(source);
  static_cast<void>(wrap<Where>(std::span(elements), devplace::extents<dyn>(elements.size())));  // the same checks
  if (elements.size() < needed) detail::throw_wrapped_size(elements.size(), detail::sizes_of(extents), needed);
  return wrap<Where>(elements.data(), extents, strides);
}
///@}

/// All else, also extents and strides in braces that do not fit, is refused by a sentence.
///@{
#define DEVPLACE_DETAIL_HOW_TO_WRAP                                                                                \
  "wrap(values, extents<2, 3>{}) or wrap(pointer, extents(rows, 3)): give the memory of elements (float, double, " \
  "std::int32_t, std::int64_t, std::uint8_t, bf16, half), then the extents, then, if the rows are not packed, a "  \
  "stride "                                                                                                        \
  "for each axis in braces."
template <class... GIVE_MEMORY_OF_ELEMENTS_THEN_extents_THEN_A_STRIDE_FOR_EACH_AXIS>
detail::refusal wrap(...) DEVPLACE_REFUSED(DEVPLACE_DETAIL_HOW_TO_WRAP);
template <class Source, class FIX = GIVE_MEMORY_OF_ELEMENTS_THEN_extents, std::size_t Rank>
detail::refusal wrap(const Source&, const std::size_t (&)[Rank]) DEVPLACE_REFUSED(DEVPLACE_DETAIL_HOW_TO_WRAP);
template <class Source, class Extents, class FIX = GIVE_MEMORY_OF_ELEMENTS_THEN_extents, std::size_t Strides>
  requires(Strides != Extents::rank)
detail::refusal wrap(const Source&, const Extents&, const std::size_t (&)[Strides])
DEVPLACE_REFUSED(DEVPLACE_DETAIL_HOW_TO_WRAP);
#undef DEVPLACE_DETAIL_HOW_TO_WRAP
///@}

}  // namespace devplace
