// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/device_pointer.hpp>
#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/detail/element_range.hpp>

namespace devplace {

namespace detail {

template <class X> inline constexpr bool is_tensor = false;
template <class T, class E, class W> inline constexpr bool is_tensor<tensor<T, E, W>> = true;

/// Rejects a function in a tensor's place: `tensor<...> y(extents<dyn>(n));` declares a function with a parameter `n`.
template <class Function> consteval bool declared_function() {
  static_assert(accepted<Function>,
                "devplace: the name is a function's and not a tensor's, because a declaration with parentheses, "
                "tensor<...> y(extents<dyn>(n)), declares a function; write braces: tensor<...> y{extents<dyn>{n}}.");
  return false;
}
template <class X> inline constexpr bool is_declared_function = false;
template <class T, class E, class W, extents_like... Parameters>
inline constexpr bool is_declared_function<tensor<T, E, W>(Parameters...)> = true;
template <class T, class E, class W, extents_like... Parameters>
inline constexpr bool is_tensor<tensor<T, E, W>(Parameters...)> = declared_function<tensor<T, E, W>(Parameters...)>();
template <class T, class E, class W, class... Parameters>
inline constexpr bool not_printed<tensor<T, E, W>(Parameters...)> = is_tensor<tensor<T, E, W>(Parameters...)>;

/// Takes a tensor's memory, or makes a tensor from memory.
struct block_access {
  template <class Tensor> static Tensor make(memory_block&& block, const typename Tensor::extents_type& extents) {
    return Tensor(std::move(block), extents);
  }
  template <class T, class E, place P> static memory_block take(tensor<T, E, P>&& x) { return std::move(x.block_); }
  template <class T, class E, place P> static memory_block& block(tensor<T, E, P>& x) { return x.block_; }
};

/// Returns a view of a tensor, with const elements for a const tensor. Returns a view of any layout unchanged.
template <class X> constexpr auto as_any_view(X&& x) {
  if constexpr (is_view<std::remove_cvref_t<X>>)
    return x;
  else
    return x.view();
}

/// Returns the view; rejects views with strides, for operations on row-major elements.
template <class T, class E, class W, class L> constexpr auto as_row_major(const view<T, E, W, L>& x) {
  static_assert(std::is_same_v<L, row_major>,
                "devplace: this operation takes tensors and row-major views, and the view has strides; make a "
                "row-major copy first, with to<on<...>>(x).");
  return view<T, E, W>{raw_data(x), x.extents(), x.device()};
}

/// Returns a row-major view of a tensor or view; rejects views with strides.
template <class X> constexpr auto as_view(X&& x) { return as_row_major(as_any_view(x)); }

}  // namespace detail

template <class X>
concept tensor_like = detail::is_tensor<std::remove_cvref_t<X>> || detail::is_view<std::remove_cvref_t<X>>;

/// Deduces the type of `tensor a = x.slice(0, 8)`, so that the tensor's constructor rejects the view. The message of
/// the constructor names the functions that copy.
template <class T, class Extents, class Where, class Layout>
tensor(const view<T, Extents, Where, Layout>&) -> tensor<std::remove_const_t<T>, Extents, Where>;

}  // namespace devplace
