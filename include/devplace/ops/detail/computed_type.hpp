// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// What elements of type T are computed in: float for storage types, else T itself.
template <class T>
using computed_t = std::conditional_t<storage_element<T>, float, T>;

/// Elements that are floating-point numbers, storage types included.
template <class T>
inline constexpr bool is_floating_or_short = element<T> && !std::is_integral_v<T>;

}  // namespace devplace::detail
