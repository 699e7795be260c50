// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <type_traits>

#include <devplace/tensor/dtype.hpp>

// Kernels can use these constants, but cannot call the functions of std::numeric_limits.
namespace devplace::detail {

template <class T>
  requires(!std::is_integral_v<T>)
inline constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
  requires(!std::is_integral_v<T>)
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

template <element T> inline constexpr T lowest_number = std::numeric_limits<T>::lowest();

template <element T> inline constexpr T highest_number = std::numeric_limits<T>::max();

}  // namespace devplace::detail
