// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/tensor/detail/wrapped_memory.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

/// Returns a view of the program's own memory, which is ordinary host memory unless another place is given, as in
/// `wrap<on<cuda<0>>>(pointer, extents<dyn, 3>{n})`. The memory is a pointer, a device_pointer, or anything that
/// converts to std::span: a std::vector, a std::array, a span. A span may also refer to a device's memory; containers
/// may not. The elements are row-major, or have `strides`: a number of elements for each axis. Strides in a std::array
/// may be negative if the memory is a pointer, to the first element.
/// `wrap(pointer, extents<2, 3>{}, {1, 2})` is a column-major matrix. The memory must outlive the view; temporary
/// containers do not compile. If the view is written, different indices must be different elements. Copies nothing:
/// `to<on<cuda<0>>>(wrap(values, extents<dyn, 3>{n}))` makes a copy. Throws shape_error unless a container has exactly
/// as many elements as the extents or, with strides, at least as many as the strides span.
///@{
template <view_placement Where = on<cpu>, class Memory, class Extents = std::initializer_list<std::size_t>>
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
