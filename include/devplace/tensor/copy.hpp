// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/copy_arguments.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies elements between tensors or views of the same element type and extents, within a place or across places.
/// Within one place the ranges may overlap. On return the source may be changed and the host may read a CPU
/// destination. Different static extents do not compile; different run-time extents throw shape_error. A view with
/// strides that is copied across places goes through a row-major temporary on its own place.
template <class To, class From>
  requires(tensor_like<To> || tensor_like<From> || detail::rejected_pair<std::remove_cvref_t<To>, From>)
void copy(To&& destination, const From& source) {
  using to_type = std::remove_cvref_t<To>;
  if constexpr (detail::check_operands<to_type, From>() && detail::check_ends_of_copy<to_type, From>()) {
    const auto to = detail::as_any_view(destination);
    const auto from = detail::as_any_view(source);
    using to_view = std::remove_const_t<decltype(to)>;
    using from_view = std::remove_const_t<decltype(from)>;
    if constexpr (detail::check_copy<to_view, from_view>()) {
      detail::require_copyable(to, from);
      using to_backend = typename to_view::backend_type;
      using from_backend = typename from_view::backend_type;
      if constexpr (to_view::is_row_major && from_view::is_row_major) {
        detail::copy_bytes<to_backend, from_backend>(to.ordinal(), detail::raw_data(to), from.ordinal(),
                                                     detail::raw_data(from),
                                                     to.size() * sizeof(typename to_view::value_type));
      } else {
        if constexpr (std::is_same_v<to_backend, from_backend>)
          if (to.ordinal() == from.ordinal()) return assign(detail::computable(to), detail::computable(from));
        if (to_view::is_row_major || to.is_contiguous())
          return copy(detail::as_contiguous(to), detail::packed(from).view);
        if constexpr (!to_view::is_row_major) {
          const auto arrived = detail::packed_beside(to);
          copy(arrived.view, detail::packed(from).view);
          assign(detail::computable(to), detail::computable(arrived.view));
        }
      }
    }
  }
}

/// Returns a tensor with the elements of `source` on placement `Where`. No other conversion changes the place.
/// Evaluates an expression on its own place. Moves a temporary that is already on `Where`, copies everything else. The
/// copy is complete when the call returns. Collectives (parallel/) distribute and collect tensors over several places.
template <class Where = void, class From, class... Other>
  requires(!detail::is_placement<Where> || !detail::has_network<std::remove_cvref_t<From>>)  // see nn/to.hpp
auto to(From&& source, const Other&...) {
  using source_type = detail::evaluated_value_t<From>;
  if constexpr (detail::check_unnamed<From>() && detail::check_operands<source_type>() &&
                detail::check_to<Where, source_type, sizeof...(Other)>()) {
    using result_type = tensor<typename source_type::value_type, typename source_type::extents_type, Where>;
    if constexpr (std::is_same_v<detail::evaluated_t<From>, result_type>) {
      return evaluated(std::forward<From>(source));
    } else {
      result_type result(source.extents());
      copy(result, evaluated(source));
      return result;
    }
  } else {
    return detail::refusal{};
  }
}

/// Rejects a number in place of a placement.
template <int Ordinal, class From> detail::refusal to(const From&) {
  static_assert(detail::accepted<From>, "devplace: to: a number is not a place; write to<cuda<0>>(x).");
  return {};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

namespace devplace::detail {

template <class Where> struct mover {
  template <class From> static auto move(From&& x) { return devplace::to<Where>(std::forward<From>(x)); }
};

}  // namespace devplace::detail
