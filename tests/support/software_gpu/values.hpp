// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

// The numbers of PTX.

namespace devplace::test::software_gpu {

using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A number of type f16.
struct half {
  u16 bits;

  half() = default;
  /// Rounds to nearest. NaN becomes the canonical one of PTX: all bits but the sign.
  explicit half(float x) {
    const float magnitude = std::abs(x);
    const u32 all = std::bit_cast<u32>(x), sign = all >> 16 & 0x8000;
    if (magnitude < 65520) {
      // In units of the last place; a normal number has 1024 to 2048 of them.
      const u32 exponent = std::max(all >> 23 & 255, 113U);
      const float units = std::nearbyint(magnitude * std::bit_cast<float>((264 - exponent) << 23));
      bits = static_cast<u16>(sign | ((exponent - 113) * 1024 + static_cast<u32>(units)));
    } else {
      bits = static_cast<u16>(std::isnan(x) ? 0x7fff : sign | 0x7c00);
    }
  }
  operator float() const {
    const u32 sign = static_cast<u32>(bits & 0x8000) << 16, magnitude = bits & 0x7fffU;
    if (magnitude < 0x400) return std::copysign(static_cast<float>(magnitude) * 0x1p-24F, sign != 0 ? -1.0F : 1.0F);
    const u32 exponent = magnitude >= 0x7c00 ? 0x70000000U : 0x38000000U;
    return std::bit_cast<float>(sign | ((magnitude << 13) + exponent) | (magnitude > 0x7c00 ? 0x400000U : 0U));
  }
};
/// A number of type bf16.
struct bfloat {
  u16 bits;

  bfloat() = default;
  /// Rounds to nearest, NaN as half does.
  explicit bfloat(float x) {
    const u32 all = std::bit_cast<u32>(x);
    bits = static_cast<u16>(std::isnan(x) ? 0x7fff : (all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(u32{bits} << 16); }
};

}  // namespace devplace::test::software_gpu
