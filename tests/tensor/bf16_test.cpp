// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/bf16.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// The value of bf16 bits by definition: sign, exponent and 7-bit mantissa.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 7 & 0xff, mantissa = bits & 0x7f;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0xff)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(mantissa, -133);
  return sign * std::ldexp(128 + mantissa, exponent - 134);
}

/// The bits of the number nearest to a finite `value`; ties round to even.
std::uint16_t nearest(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  std::uint32_t low = 0, high = 0x7f80;  // low <= magnitude < high, with infinity standing for 2^128
  const auto at = [](std::uint32_t bits) {
    return bits == 0x7f80 ? std::ldexp(1.0, 128) : value_of(static_cast<std::uint16_t>(bits));
  };
  if (magnitude >= at(high)) return static_cast<std::uint16_t>(sign | high);
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - at(low), above = at(high) - magnitude;
  const std::uint32_t chosen = below < above || (below == above && low % 2 == 0) ? low : high;
  return static_cast<std::uint16_t>(sign | chosen);
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("every bf16 converts to the float of its definition and back", "[tensor]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const dp::bf16 x = dp::bf16::from_bits(static_cast<std::uint16_t>(bits));
    const double expected = value_of(x.bits());
    INFO(bits);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(static_cast<float>(x)));
      REQUIRE(dp::bf16(static_cast<float>(x)).bits() == (bits | 0x40));
    } else {
      REQUIRE(static_cast<double>(x) == expected);
      REQUIRE(dp::bf16(static_cast<float>(x)).bits() == bits);
      REQUIRE(dp::bf16(expected).bits() == bits);
    }
  }
}

TEST_CASE("floats round to the nearest bf16, ties to even", "[tensor]") {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    if (i % 2 == 0) bits = (bits & 0xffff0000) | (0x7fff + static_cast<std::uint32_t>(i / 2 % 3));  // at a tie
    const float value = float_of(bits);
    if (std::isnan(value) || std::isinf(value)) continue;
    INFO(value);
    REQUIRE(dp::bf16(value).bits() == nearest(value));
  }
  for (const std::uint32_t bits : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0x18000u, 0x7fffffu, 0x7f7f7fffu, 0x7f7f8000u})
    for (const std::uint32_t sign : {0u, 0x80000000u})
      CHECK(dp::bf16(float_of(bits | sign)).bits() == nearest(float_of(bits | sign)));
}

TEST_CASE("doubles round once, without an intermediate float", "[tensor]") {
  const double tie = 1 + std::ldexp(1.0, -8);
  CHECK(dp::bf16(tie).bits() == 0x3f80);
  CHECK(dp::bf16(tie + std::ldexp(1.0, -40)).bits() == 0x3f81);
  CHECK(dp::bf16(-tie - std::ldexp(1.0, -40)).bits() == 0xbf81);
  CHECK(dp::bf16(1 + 3 * std::ldexp(1.0, -8) - std::ldexp(1.0, -40)).bits() == 0x3f81);
  CHECK(dp::bf16(std::ldexp(1.0, -134)).bits() == 0);
  CHECK(dp::bf16(std::ldexp(1.0, -134) + std::ldexp(1.0, -180)).bits() == 1);
  CHECK(dp::bf16(-1e-300).bits() == 0x8000);
  CHECK(dp::bf16(1e300).bits() == 0x7f80);
  CHECK(dp::bf16(-std::numeric_limits<double>::infinity()).bits() == 0xff80);
  CHECK(std::isnan(static_cast<float>(dp::bf16(std::numeric_limits<double>::quiet_NaN()))));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-140, 130);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::exp2(exponent(random)) * (i % 2 == 0 ? 1 : -1);
    INFO(value);
    REQUIRE(dp::bf16(value).bits() == nearest(value));
  }
}

TEST_CASE("a NaN with a payload only in the lower bits stays a NaN", "[tensor]") {
  CHECK(dp::bf16(float_of(0x7f800001)).bits() == 0x7fc0);
  CHECK(dp::bf16(float_of(0xffffffff)).bits() == 0xffff);
}

TEST_CASE("bf16 is trivial, converts to float implicitly and from numbers explicitly, also in constants", "[tensor]") {
  STATIC_REQUIRE(sizeof(dp::bf16) == 2);
  STATIC_REQUIRE(std::is_trivial_v<dp::bf16>);
  STATIC_REQUIRE(std::is_convertible_v<dp::bf16, float>);
  STATIC_REQUIRE(!std::is_convertible_v<float, dp::bf16>);
  STATIC_REQUIRE(dp::bf16(3).bits() == 0x4040);
  STATIC_REQUIRE(dp::bf16(0.1).bits() == 0x3dcd);
  STATIC_REQUIRE(dp::bf16(257) == 256.0f);
  STATIC_REQUIRE(dp::bf16(1.5f) + 1.0f == 2.5f);
}
