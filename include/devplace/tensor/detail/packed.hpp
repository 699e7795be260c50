// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the view on a backend that computes: a view of pinned memory becomes a view on the CPU.
template <class T, class E, class W, class L> constexpr auto computable(const view<T, E, W, L>& x) {
  using given = typename view<T, E, W, L>::backend_type;
  using where = here<std::conditional_t<in_host_memory<given>, backend::cpu, given>>;
  const device_of<where> device{x.ordinal()};
  if constexpr (std::is_same_v<L, row_major>)
    return view<T, E, where>(raw_data(x), x.extents(), device);
  else
    return view<T, E, where, strided>(raw_data(x), x.extents(), x.strides(), device);
}

/// Row-major elements; `block` owns their memory if they are a temporary copy.
template <class View> struct packed_elements {
  memory_block block;
  View view;
};

/// Allocates uninitialised row-major elements with the type and extents of a view; the result owns them.
template <class T, class E, class W, class L> auto packed_beside(const view<T, E, W, L>& x) {
  using value = std::remove_const_t<T>;
  using backend = typename view<T, E, W, L>::backend_type;
  memory_block block = allocate<backend>(x.ordinal(), x.size() * sizeof(value), memory_purpose::workspace);
  auto* const data = static_cast<value*>(block.data());
  return packed_elements<view<value, E, W>>{std::move(block), {data, x.extents(), x.device()}};
}

template <class T, class E, class W, class L> constexpr auto as_contiguous(const view<T, E, W, L>& x) {
  return view<T, E, W>(raw_data(x), x.extents(), x.device());
}

/// Returns the elements of a view in row-major order: its own memory if it is contiguous, otherwise a copy that
/// assign() (ops/assign.hpp) enqueues on the current stream.
template <class T, class E, class W, class L> auto packed(const view<T, E, W, L>& x) {
  using plain = view<const std::remove_const_t<T>, E, W>;
  if constexpr (std::is_same_v<L, row_major>) {
    return packed_elements<plain>{{}, x};
  } else {
    if (x.is_contiguous()) return packed_elements<plain>{{}, as_contiguous(x)};
    auto copy = packed_beside(x);
    assign(computable(copy.view), computable(x));
    return packed_elements<plain>{std::move(copy.block), copy.view};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION
