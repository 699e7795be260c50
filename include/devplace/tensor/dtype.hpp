// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>

#include <devplace/tensor/detail/dtypes.hpp>

namespace devplace {

/// Element types of tensors: float, double, int32, int64, uint8, and for storage bf16 and half.
template <class T>
concept element = detail::is_element<T>;

/// Floating-point storage types of 16 bits; arithmetic is done in float.
template <class T>
concept half_precision_element = element<T> && detail::storage_element<T> && sizeof(T) == 2;

/// Element types that parameters and gradients can have.
template <class T>
concept floating_element = element<T> && (std::same_as<T, float> || std::same_as<T, double>);

namespace detail {

// Bools instead of concepts, for the reason given at is_element.
template <class T> inline constexpr bool is_half_precision = half_precision_element<T>;
template <class T> inline constexpr bool is_floating = floating_element<T>;

}  // namespace detail

/// The element type's name without namespace: `float`, `int64`.
template <element T> constexpr const char* dtype_name() { return detail::dtype_of<T>->name; }

}  // namespace devplace
