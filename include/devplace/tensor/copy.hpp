// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

/// Copies elements between tensors or views of the same element type and extents, on the same place or across places.
/// Inside one place the ranges may overlap. When it returns, the source may be changed and the host may read a CPU
/// destination. Static extents that differ do not compile; run-time ones throw shape_error.
template <class Tu = detail::this_tu, tensor_like To, tensor_like From>
void copy(To&& destination, const From& source) {
  const auto to = detail::as_view(destination);
  const auto from = detail::as_view(source);
  using to_view = std::remove_const_t<decltype(to)>;
  using from_view = std::remove_const_t<decltype(from)>;
  static_assert(!std::is_const_v<typename to_view::element_type>,
                "devplace: copy: the destination's elements are const; pass a tensor or view that may be changed.");
  static_assert(std::is_same_v<typename to_view::value_type, typename from_view::value_type>,
                "devplace: copy: the element types differ; convert with cast<T>(x) on one place first.");
  static_assert(detail::compatible<typename to_view::extents_type, typename from_view::extents_type>,
                "devplace: copy: the static extents of destination and source differ.");
  if (!(to.extents() == from.extents()))
    throw shape_error("copy: the destination is " + detail::to_string(to.extents()) + " and the source " +
                      detail::to_string(from.extents()) + "; they must have the same extents.");
  using to_backend = typename to_view::backend_type;
  using from_backend = typename from_view::backend_type;
  const std::size_t bytes = to.size() * sizeof(typename to_view::value_type);
  if constexpr (std::is_same_v<to_backend, from_backend>) {
    if (to.ordinal() == from.ordinal())
      detail::copy_within<to_backend, Tu>(to.ordinal(), to.data(), from.data(), bytes);
    else
      detail::copy_between<to_backend, Tu>(to.ordinal(), to.data(), from.ordinal(), from.data(), bytes);
  } else if constexpr (std::is_same_v<from_backend, backend::cpu>) {
    detail::copy_in<to_backend, Tu>(to.ordinal(), to.data(), from.data(), bytes);
  } else {
    static_assert(std::is_same_v<to_backend, backend::cpu>);
    detail::copy_out<from_backend, Tu>(from.ordinal(), to.data(), from.data(), bytes);
  }
}

/// A tensor with the same elements on placement `Where`: the only way across places. A temporary that is already
/// there is moved, everything else copied. Complete when it returns.
template <single_place Where, class Tu = detail::this_tu, tensor_like From>
auto to(From&& source) {
  using source_type = std::remove_cvref_t<From>;
  using result_type = tensor<typename source_type::value_type, typename source_type::extents_type, Where>;
  if constexpr (std::is_same_v<From, result_type>) {
    return result_type(std::move(source));
  } else {
    result_type result(source.extents(), Tu{});
    copy<Tu>(result, source);
    return result;
  }
}

}  // namespace devplace
