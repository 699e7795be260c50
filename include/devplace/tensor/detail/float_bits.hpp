// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <devplace/config.hpp>

// Tests numbers by their bits: -ffast-math assumes that there are neither NaN nor infinities and removes comparisons
// that would find them.
namespace devplace::detail {

template <class To, class From> DEVPLACE_HD inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// The unsigned integer of a floating-point type's size.
template <class T> using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Returns `a` if the condition holds, otherwise `b`, by masks: g++ turns a conditional operator into branches and then
/// does not vectorise the loop.
template <class Bits> DEVPLACE_HD constexpr Bits chosen_bits(bool condition, Bits a, Bits b) {
  const Bits mask = Bits{0} - static_cast<Bits>(condition);
  return (a & mask) | (b & ~mask);
}
template <class T> DEVPLACE_HD inline T chosen(bool condition, T a, T b) {
  using bits = bits_of<T>;
  return same_bits<T>(chosen_bits(condition, same_bits<bits>(a), same_bits<bits>(b)));
}

/// The bits of infinity: all 8 or 11 exponent bits. The bits of NaN are larger.
template <class T>
inline constexpr bits_of<T> infinity_bits = (~bits_of<T>{0} >> 1) - (~bits_of<T>{0} >> (sizeof(T) == 4 ? 9 : 12));

template <class T> DEVPLACE_HD inline bits_of<T> magnitude_bits(T x) {
  return same_bits<bits_of<T>>(x) & (~bits_of<T>{0} >> 1);
}

template <class T> DEVPLACE_HD inline bool is_nan(T x) { return magnitude_bits(x) > infinity_bits<T>; }

template <class T> DEVPLACE_HD inline bool is_finite(T x) { return magnitude_bits(x) < infinity_bits<T>; }

/// Clears the sign of a NaN, such as 0 / 0 on x86, which would print as `-nan`. Returns other numbers unchanged.
template <class T> DEVPLACE_HD inline T without_sign_of_nan(T x) {
  return same_bits<T>(is_nan(x) ? magnitude_bits(x) : same_bits<bits_of<T>>(x));
}

}  // namespace devplace::detail
