// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The type in which elements of type T are computed: float for storage types, otherwise T.
template <class T> using computed_t = std::conditional_t<storage_element<T>, float, T>;

/// Floating-point element types, including storage types.
template <class T> inline constexpr bool is_floating_or_half_precision = element<T> && !std::is_integral_v<T>;

}  // namespace devplace::detail
