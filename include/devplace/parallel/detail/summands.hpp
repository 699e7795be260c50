// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/parallel/direct.hpp>

// The common parts of the collectives that combine summands.

namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION {

/// Rejects means of integers at compile time, because they would be truncated.
template <class From> constexpr bool check_elements() {
  constexpr bool defined = devplace::detail::kind_of<typename From::placement_type>::op != reduction::mean ||
                           std::is_floating_point_v<typename From::value_type>;
  static_assert(defined,
                "devplace: a mean over places is defined for floating-point elements; use partial<reduction::sum, ...> "
                "and divide, or convert the summands with cast<float>(x).");
  return defined;
}

/// The address of the first element of each place's local tensor.
template <class Tensor> auto buffers_of(Tensor& x) {
  std::array<decltype(x.only_on(0).data()), Tensor::places> result{};
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = x.only_on(k).data();
  return result;
}

/// Returns summands that may be overwritten: a temporary itself, or a copy.
template <class From> std::remove_cvref_t<From> owned_summands(From&& x) {
  if constexpr (std::is_same_v<From, std::remove_cvref_t<From>>)
    return std::move(x);
  else
    return x.clone();
}

}  // namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION
