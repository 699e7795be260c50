// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <devplace/data/loader_options.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// `(x * scale - mean) / standard_deviation` of features of type From, as elements of type T.
template <element From, floating_element T>
class feature_scale {
 public:
  explicit feature_scale(const loader_options& options)
      : factor_(static_cast<T>(options.scale.value_or(1) / options.standard_deviation)),
        offset_(static_cast<T>(-options.mean / options.standard_deviation)) {}

  void operator()(T* to, const From* from, std::size_t count) const {
    const T factor = factor_, offset = offset_;
    if (factor == T{1} && offset == T{0}) {
      std::copy_n(from, count, to);  // keeps every bit, also of -0
      return;
    }
    for (std::size_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(from[i]) * factor + offset;
  }

 private:
  T factor_, offset_;
};

/// Bytes are looked up: as fast as computing with the vectors that every x86-64 has, rounded once, and the same bits
/// whatever the compiler's options. By default x / 255 exactly rounded, as torchvision's ToTensor.
template <floating_element T>
class feature_scale<std::uint8_t, T> {
 public:
  explicit feature_scale(const loader_options& options) {
    for (std::size_t x = 0; x < 256; ++x) {
      const double value = static_cast<double>(x);
      const double scaled = options.scale ? value * *options.scale : value / 255;
      table_[x] = static_cast<T>((scaled - options.mean) / options.standard_deviation);
    }
  }

  void operator()(T* to, const std::uint8_t* from, std::size_t count) const {
    const T* const table = table_.data();
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

 private:
  std::array<T, 256> table_;
};

}  // namespace devplace::detail
