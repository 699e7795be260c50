// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace {

template <class T, extents_like Extents, view_placement Where, view_layout Layout = row_major>
  requires element<std::remove_const_t<T>>
class view;

namespace detail {

template <class V> inline constexpr bool is_view = false;
template <class T, class E, class W, class L> inline constexpr bool is_view<view<T, E, W, L>> = true;

/// A row-major view at `here<Backend>`, on the device with this ordinal.
template <class Backend, class T, class Extents>
constexpr view<T, Extents, here<Backend>> view_at(int ordinal, T* data, const Extents& extents) {
  return {data, extents, device_of<here<Backend>>{ordinal}};
}

}  // namespace detail
}  // namespace devplace
