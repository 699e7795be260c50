// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The type in which elements of type T are computed: float for the 16-bit types, otherwise T.
template <class T>
using computed_t = std::conditional_t<short_element<T>, float, T>;

/// Floating-point element types, including the 16-bit types.
template <class T>
inline constexpr bool is_floating_or_short = floating_element<T> || (element<T> && !std::is_integral_v<T>);

}  // namespace devplace::detail
