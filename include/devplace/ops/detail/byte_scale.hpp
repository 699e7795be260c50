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

/// A table of `(x * scale - mean) / standard_deviation` for all byte values x. Computed in double and rounded once to
/// T, so it is identical on every place and with all compiler options.
template <floating_element T> struct byte_scale {
  /// The value of byte x.
  T values[256];

  /// Without a scale, x / 255, correctly rounded, replaces x * scale, as in torchvision's ToTensor.
  explicit byte_scale(std::optional<double> scale = {}, double mean = 0, double standard_deviation = 1) {
    for (std::size_t x = 0; x < 256; ++x) {
      const double value = static_cast<double>(x);
      const double centred = scale ? std::fma(value, *scale, -mean) : value / 255 - mean;
      values[x] = static_cast<T>(centred / standard_deviation);
    }
  }
};

namespace detail {

/// Look-ups on the CPU: as fast as arithmetic with the vector instructions of baseline x86-64.
template <class T>
void scale_byte_range(T* to, const std::uint8_t* from, std::size_t count, const byte_scale<T>& scale) {
  const T* const table = scale.values;
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Reads eight bytes into one register: compilers would vectorise the obvious loop into slow gathers.
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
  for (; i < count; ++i) to[i] = table[from[i]];
}

/// Body for for_each: to[i] = scale.values[from[i]].
template <class T> struct byte_scaler {
  T* to;
  const std::uint8_t* from;
  byte_scale<T> scale;

  void range(std::size_t begin, std::size_t end) const {
    scale_byte_range(to + begin, from + begin, end - begin, scale);
  }
};

}  // namespace detail
}  // namespace devplace
