// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class E, class W>
inline constexpr bool is_tensor<tensor<T, E, W>> = true;

}  // namespace detail

/// A tensor or a view.
template <class X>
concept tensor_like = detail::is_tensor<std::remove_cvref_t<X>> || detail::is_view<std::remove_cvref_t<X>>;

namespace detail {

/// For functions that take a tensor's memory or make a tensor of memory.
struct block_access {
  template <class Tensor>
  static Tensor make(memory_block&& block, const typename Tensor::extents_type& extents) {
    return Tensor(std::move(block), extents);
  }
  template <class T, class E, place P>
  static memory_block take(tensor<T, E, P>&& x) {
    return std::move(x.block_);
  }
  template <class T, class E, place P>
  static memory_block& of(tensor<T, E, P>& x) {
    return x.block_;
  }
};

/// The window of a tensor or view, const for a const tensor, of any layout.
template <class X>
constexpr auto as_window(X&& x) {
  if constexpr (is_view<std::remove_cvref_t<X>>)
    return x;
  else
    return x.view();
}

/// Rejects views with strides, for operations on row-major elements.
template <class T, class E, class W, class L>
constexpr auto as_row_major(const view<T, E, W, L>& x) {
  static_assert(std::is_same_v<L, row_major>,
                "devplace: this operation takes tensors and row-major views, and the view has strides; make a "
                "row-major copy first, with to<on<...>>(x).");
  return view<T, E, W>{raw_data(x), x.extents(), x.device()};
}

/// As as_window, for operations on row-major elements.
template <class X>
constexpr auto as_view(X&& x) {
  return as_row_major(as_window(x));
}

}  // namespace detail

/// `tensor a = x.slice(0, 8)` is not a copy: deduced only for the message of the deleted constructor, which says what
/// is.
template <class T, class Extents, class Where, class Layout>
tensor(const view<T, Extents, Where, Layout>&) -> tensor<std::remove_const_t<T>, Extents, Where>;

}  // namespace devplace
