// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/tensor/mdspan.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

template <class Source>
concept elements_source =
    requires(Source& source) { requires is_element<typename decltype(std::span(source))::value_type>; };

/// Containers in host memory: std::array and containers with std::allocator. Spans may refer to other memory.
template <class Source>
inline constexpr bool is_host_container =
    requires { requires std::is_same_v<typename Source::allocator_type, std::allocator<typename Source::value_type>>; };
template <class T, std::size_t N> inline constexpr bool is_host_container<std::array<T, N>> = true;

template <class T> inline constexpr bool is_device_pointer = false;
template <class T> inline constexpr bool is_device_pointer<device_pointer<T>> = true;

/// Pointers to elements in memory of unknown size.
template <class T> inline constexpr bool is_address = is_device_pointer<T>;
template <class T> inline constexpr bool is_address<T*> = is_element<std::remove_const_t<T>>;

/// Whether wrap() takes this memory as elements on `Where`. `Strides` is the number of given strides; none for
/// row-major elements.
template <class Where, class Memory, class Extents, std::size_t... Strides> constexpr auto check_wrap() {
  using plain = std::remove_cvref_t<Memory>;
  constexpr bool on_host = place<Where> && host_accessible<Where>, address = is_address<std::decay_t<Memory>>,
                 fits = (has_rank<Extents, Strides> && ...) && is_extents<Extents>,
                 elements = fits && (address || elements_source<Memory>);
  constexpr bool named_device = !elements || !is_device_pointer<plain> || !on_host,
                 kept = !elements || address || std::is_lvalue_reference_v<Memory> ||
                        std::ranges::enable_borrowed_range<plain>,
                 reached = !elements || !is_host_container<plain> || host_accessible<Where> || !place<Where>;
  static_assert(elements,
                "devplace: wrap(values, extents<2, 3>{}) or wrap(pointer, extents(rows, 3)): give the memory of "
                "elements (float, double, std::int32_t, std::int64_t, std::uint8_t, bf16, half), then the extents, "
                "then, if the rows are not packed, a stride for each axis in braces.");
  static_assert(named_device,
                "devplace: wrap: the pointer is of a device's memory, which the host cannot reach; name the device, "
                "as in wrap<cuda<0>>(pointer, extents).");
  static_assert(kept, "devplace: wrap: a temporary would be gone before the view; give it a name first.");
  static_assert(reached,
                "devplace: wrap: the container is in host memory and the place is a device; to<cuda<0>>(wrap(values, "
                "extents)) copies it there, and wrap<cuda<0>>(pointer, extents) takes memory of the device.");
  return elements && named_device && kept && reached;
}

template <class Memory> constexpr auto* wrapped_data(Memory& memory) {
  if constexpr (is_device_pointer<Memory>)
    return memory.get();
  else if constexpr (is_address<std::decay_t<Memory>>)
    return std::decay_t<Memory>(memory);
  else
    return std::span(memory).data();
}

[[noreturn]] inline void throw_wrapped_size(std::size_t elements, std::span<const std::size_t> extents,
                                            std::size_t needed) {
  throw shape_error({"wrap: ", elements, " elements were given for a view of ", sizes_text(extents),
                     needed == SIZE_MAX
                         ? ", whose strides exceed the address space; strides count from 0, and none is negative."
                         : joined({", which takes ", needed, "."})});
}

}  // namespace detail

/// Returns a view of the program's own memory, which is ordinary host memory unless another place is given, as in
/// `wrap<on<cuda<0>>>(pointer, extents<dyn, 3>{n})`. The memory is a pointer, a device_pointer, or anything that
/// converts to std::span: a std::vector, a std::array, a span. A span may also refer to a device's memory; containers
/// may not. The elements are row-major, or have `strides`: a number of elements for each axis. Strides in a std::array
/// may be negative if the memory is given by a pointer, which then points to the first element.
/// `wrap(pointer, extents<2, 3>{}, {1, 2})` is a column-major matrix. The memory must outlive the view; temporary
/// containers do not compile. If the view is written, different indices must be different elements. Copies nothing:
/// `to<on<cuda<0>>>(wrap(values, extents<dyn, 3>{n}))` makes a copy. Throws shape_error unless a container has exactly
/// as many elements as the extents or, with strides, at least as many as the strides span.
///@{
template <view_placement Where = on<cpu>, class Memory, class Extents = std::initializer_list<std::size_t>>
  requires(!mdspan_like<Memory>)
constexpr auto wrap(Memory&& memory, const Extents& extents = {}) {
  if constexpr (detail::check_wrap<Where, Memory, Extents>()) {
    if constexpr (!detail::is_address<std::decay_t<Memory>>) {
      const std::size_t elements = std::span(memory).size();
      if (elements != extents.size()) detail::throw_wrapped_size(elements, detail::sizes_of(extents), extents.size());
    }
    auto* const data = detail::wrapped_data(memory);
    return view<std::remove_pointer_t<decltype(data)>, Extents, Where>(data, extents);
  } else {
    return detail::refusal{};
  }
}
template <view_placement Where = on<cpu>, class Memory, class Extents, std::integral Stride, std::size_t Count>
constexpr auto wrap(Memory&& memory, const Extents& extents, const std::array<Stride, Count>& strides) {
  if constexpr (detail::check_wrap<Where, Memory, Extents, Count>()) {
    std::array<std::ptrdiff_t, Count> by{};
    for (std::size_t axis = 0; axis != Count; ++axis) by[axis] = static_cast<std::ptrdiff_t>(strides[axis]);
    if constexpr (!detail::is_address<std::decay_t<Memory>>) {
      const std::size_t elements = std::span(memory).size();
      const auto [all, before] = detail::spanned(detail::sizes_of(extents), by);
      const std::size_t needed = before == 0 ? all : SIZE_MAX;
      if (elements < needed) detail::throw_wrapped_size(elements, detail::sizes_of(extents), needed);
    }
    auto* const data = detail::wrapped_data(memory);
    return view<std::remove_pointer_t<decltype(data)>, Extents, Where, strided>(data, extents, by);
  } else {
    return detail::refusal{};
  }
}
template <view_placement Where = on<cpu>, class Memory, class Extents, std::size_t Count>
constexpr auto wrap(Memory&& memory, const Extents& extents, const std::size_t (&strides)[Count]) {
  return wrap<Where>(std::forward<Memory>(memory), extents, std::to_array(strides));
}
///@}

}  // namespace devplace
