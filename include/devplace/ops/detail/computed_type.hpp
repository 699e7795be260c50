// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// What elements of type T are computed in: float for the 16-bit types, else T itself.
template <class T>
using computed_t = std::conditional_t<short_element<T>, float, T>;

/// Elements that are floating-point numbers, those of 16 bits included.
template <class T>
inline constexpr bool is_floating_or_short = floating_element<T> || (element<T> && !std::is_integral_v<T>);

}  // namespace devplace::detail
