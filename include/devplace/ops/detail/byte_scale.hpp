// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// What each value of a byte becomes as a number of type T: `(x * scale - mean) / standard_deviation`, computed in
/// double and rounded once, so that it is the same on every place and for all options of the compiler.
template <floating_element T>
struct byte_scale {
  /// What byte x becomes.
  T of[256];

  /// Without a scale x / 255, exactly rounded, as torchvision's ToTensor; then less the mean, then divided.
  explicit byte_scale(std::optional<double> scale = {}, double mean = 0, double standard_deviation = 1) {
    for (std::size_t x = 0; x < 256; ++x) {
      const double value = static_cast<double>(x);
      const double centred = scale ? std::fma(value, *scale, -mean) : value / 255 - mean;
      of[x] = static_cast<T>(centred / standard_deviation);
    }
  }
};

namespace detail {

/// The CPU's loop over bytes, each of which is looked up: as fast as computing with the vectors that every x86-64 has.
template <class T>
void scale_byte_range(T* to, const std::uint8_t* from, std::size_t count, const byte_scale<T>& scale) {
  const T* const table = scale.of;
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes in one register: compilers make slow vectors of loads of the obvious loop.
    for (; i + 8 <= count; i += 8) {
      std::uint64_t bytes;
      std::memcpy(&bytes, from + i, sizeof bytes);
      to[i] = table[bytes & 255];
      to[i + 1] = table[bytes >> 8 & 255];
      to[i + 2] = table[bytes >> 16 & 255];
      to[i + 3] = table[bytes >> 24 & 255];
      to[i + 4] = table[bytes >> 32 & 255];
      to[i + 5] = table[bytes >> 40 & 255];
      to[i + 6] = table[bytes >> 48 & 255];
      to[i + 7] = table[bytes >> 56];
    }
  }
  for (; i < count; ++i)
    to[i] = table[from[i]];
}

}  // namespace detail
}  // namespace devplace
