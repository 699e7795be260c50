// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>

#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

namespace devplace {

/// Floating-point storage types of 16 bits; arithmetic is done in float.
template <class T>
concept short_element = std::same_as<T, bf16> || std::same_as<T, half>;

/// Element types of tensors: float, double, int32, int64, uint8, and for storage bf16 and half.
template <class T>
concept element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t> || short_element<T>;

/// Element types that parameters and gradients can have.
template <class T>
concept floating_element = std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

// As bool, because compilers explain at length why a concept is not satisfied.
template <class T>
inline constexpr bool is_element = element<T>;
template <class T>
inline constexpr bool is_short = short_element<T>;
template <class T>
inline constexpr bool is_floating = floating_element<T>;

}  // namespace detail

/// The element type's name without namespace: `float`, `int64`.
template <element T>
constexpr const char* dtype_name() {
  if constexpr (std::same_as<T, float>)
    return "float";
  else if constexpr (std::same_as<T, double>)
    return "double";
  else if constexpr (std::same_as<T, std::int32_t>)
    return "int32";
  else if constexpr (std::same_as<T, std::int64_t>)
    return "int64";
  else if constexpr (std::same_as<T, bf16>)
    return "bf16";
  else if constexpr (std::same_as<T, half>)
    return "half";
  else
    return "uint8";
}

}  // namespace devplace
