// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/half.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The value of a positive number by IEEE 754's definition of binary16.
double half_value(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10), mantissa = static_cast<int>(bits & 0x3ff);
  if (exponent == 31) return mantissa == 0 ? infinity : std::numeric_limits<double>::quiet_NaN();
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

std::uint32_t bits_of_float(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float half_test_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Whether `value` with either sign rounds to `bits`, as a double and, if exact, as a float.
bool rounds_to(double value, std::uint32_t bits) {
  const float narrow = static_cast<float>(value);
  const auto positive = static_cast<std::uint16_t>(bits), negative = static_cast<std::uint16_t>(bits | 0x8000);
  const bool as_double = dp::half(value).bits() == positive && dp::half(-value).bits() == negative;
  const bool as_float = static_cast<double>(narrow) != value ||
                        (dp::half(narrow).bits() == positive && dp::half(-narrow).bits() == negative);
  return as_double && as_float;
}

}  // namespace

TEST_CASE("every half converts to the number of its definition and back from float and double", "[tensor]") {
  for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
    INFO(bits);
    const float value = dp::half::from_bits(static_cast<std::uint16_t>(bits));
    const float negative = dp::half::from_bits(static_cast<std::uint16_t>(bits | 0x8000));
    REQUIRE(bits_of_float(negative) == (bits_of_float(value) | 0x80000000));
    const double expected = half_value(bits);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(value));
      REQUIRE(dp::half(value).bits() == (bits | 0x200));
      REQUIRE(dp::half(static_cast<double>(value)).bits() == (bits | 0x200));
      REQUIRE(dp::half(negative).bits() == (bits | 0x8200));
    } else {
      REQUIRE(static_cast<double>(value) == expected);
      REQUIRE(rounds_to(expected, bits));
    }
  }
}

TEST_CASE("numbers between neighbours round to the nearer half, ties to even", "[tensor]") {
  for (std::uint32_t low = 0; low < 0x7c00; ++low) {
    const std::uint32_t high = low + 1;
    INFO(low);
    // Infinity stands for 65536.
    const double below = half_value(low), above = high == 0x7c00 ? 65536 : half_value(high);
    const double middle = (below + above) / 2;
    REQUIRE(rounds_to(middle, low % 2 == 0 ? low : high));
    REQUIRE(rounds_to(std::nextafter(middle, 0), low));
    REQUIRE(rounds_to(std::nextafter(middle, infinity), high));
    REQUIRE(rounds_to(std::nextafterf(static_cast<float>(middle), 0), low));
    REQUIRE(rounds_to(std::nextafterf(static_cast<float>(middle), 1e9f), high));
    REQUIRE(rounds_to(std::nextafter(above, 0), high));
    REQUIRE(rounds_to(std::nextafter(below, infinity), low));
  }
}

TEST_CASE("numbers beyond half's range become infinity or zero with their sign", "[tensor]") {
  for (const double value : {65536.0, 1e6, 1e30, 1e300, infinity}) CHECK(rounds_to(value, 0x7c00));
  for (const double value : {1e-30, 1e-300, 5e-324, 0x1p-25, 0x1p-126, 0x1p-149}) CHECK(rounds_to(value, 0));
  CHECK(dp::half(half_test_float(0x7f800001)).bits() == 0x7e00);
  CHECK(dp::half(half_test_float(0xffffffff)).bits() == 0xffff);
}

TEST_CASE("integers of any size round once to half and bf16", "[tensor]") {
  STATIC_REQUIRE(dp::half(2049).bits() == 0x6800);
  STATIC_REQUIRE(dp::half(-2051).bits() == 0xe802);
  STATIC_REQUIRE(dp::half(std::uint8_t{255}).bits() == 0x5bf8);
  STATIC_REQUIRE(dp::half(std::int64_t{65519}).bits() == 0x7bff);
  STATIC_REQUIRE(dp::half(std::numeric_limits<std::int64_t>::min()).bits() == 0xfc00);
  STATIC_REQUIRE(dp::bf16(std::numeric_limits<std::int64_t>::min()).bits() == 0xdf00);
  // A tie for bf16; an intermediate double would lose the difference to tie + 1.
  constexpr std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  STATIC_REQUIRE(dp::bf16(tie).bits() == 0x5e80);
  STATIC_REQUIRE(dp::bf16(tie + 1).bits() == 0x5e81);
  STATIC_REQUIRE(dp::bf16(-tie - 1).bits() == 0xde81);
  STATIC_REQUIRE(dp::bf16(~std::uint64_t{0}).bits() == 0x5f80);
}

TEST_CASE("numeric_limits of half and bf16 match their formats", "[tensor]") {
  using half = std::numeric_limits<dp::half>;
  using bf16 = std::numeric_limits<dp::bf16>;
  STATIC_REQUIRE(half::is_specialized);
  STATIC_REQUIRE(!half::is_exact);
  CHECK(half::max() == 65504.0f);
  CHECK(half::lowest() == -65504.0f);
  CHECK(half::min() == 0x1p-14f);
  CHECK(half::denorm_min() == 0x1p-24f);
  CHECK(half::epsilon() == 0x1p-10f);
  CHECK(std::isinf(static_cast<float>(half::infinity())));
  CHECK(std::isnan(static_cast<float>(half::quiet_NaN())));
  CHECK(half::digits == 11);
  CHECK(half::digits10 == 3);
  CHECK(half::max_digits10 == 5);
  CHECK(half::max_exponent == 16);
  CHECK(half::min_exponent == -13);
  CHECK(half::max_exponent10 == 4);
  CHECK(half::min_exponent10 == -4);
  CHECK(bf16::max() == 0x1.fep127f);
  CHECK(bf16::min() == std::numeric_limits<float>::min());
  CHECK(static_cast<double>(bf16::denorm_min()) == 0x1p-133);
  CHECK(bf16::epsilon() == 0x1p-7f);
  CHECK(bf16::digits10 == 2);
  CHECK(bf16::max_digits10 == 4);
  CHECK(bf16::max_exponent10 == 38);
  CHECK(bf16::min_exponent10 == -37);
}

TEST_CASE("half is trivial, converts to float implicitly and from numbers explicitly, also in constants", "[tensor]") {
  STATIC_REQUIRE(sizeof(dp::half) == 2);
  STATIC_REQUIRE(std::is_trivial_v<dp::half>);
  STATIC_REQUIRE(std::is_convertible_v<dp::half, float>);
  STATIC_REQUIRE(!std::is_convertible_v<float, dp::half>);
  STATIC_REQUIRE(!std::is_convertible_v<dp::half, dp::bf16>);
  STATIC_REQUIRE(dp::half(0.1).bits() == 0x2e66);
  STATIC_REQUIRE(dp::half(1.5f) + 1.0f == 2.5f);
  STATIC_REQUIRE(dp::half(dp::bf16(3.0f)) == 3.0f);
  STATIC_REQUIRE(static_cast<float>(dp::half::from_bits(1)) == 0x1p-24f);
}
