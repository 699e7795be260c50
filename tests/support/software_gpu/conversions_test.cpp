// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/software_gpu/kernel_runner.hpp"

using namespace devplace::test::software_gpu;

namespace {

/// Runs an instruction from %a (64 bits of memory, read as the type) to %d0, for each input.
std::vector<u64> converted(const std::string& instruction, unsigned to, unsigned from, const std::vector<u64>& inputs) {
  kernel_runner runner;
  u64* const in = runner.memory.allocate<u64>(inputs.size());
  u64* const out = runner.memory.allocate<u64>(inputs.size());
  std::copy(inputs.begin(), inputs.end(), in);
  runner.shape.threads = 256, runner.shape.blocks = static_cast<u32>((inputs.size() + 255) / 256);
  const auto type = [](unsigned bytes) { return ".b" + std::to_string(8 * bytes); };
  const auto violations =
      runner.run(".reg " + type(std::max(to, 2U)) + " %d0; .reg " + type(std::max(from, 2U)) + " %a;\n" +
                     "setp.ge.u32 %p1, %i, " + std::to_string(inputs.size()) + "; @%p1 ret;\n" +
                     "mul.wide.u32 %rd1, %i, 8; add.u64 %rd2, %rd1, %x; add.u64 %rd3, %rd1, %y;\n" + "ld.global" +
                     type(from) + " %a, [%rd2];\n" + instruction + ";\nst.global" + type(to) + " [%rd3], %d0;",
                 in, out);
  REQUIRE(violations == "");
  return std::vector<u64>(out, out + inputs.size());
}

/// The value of a half, from the format's definition.
double value_of(u64 bits) {
  const int exponent = static_cast<int>(bits >> 10) & 31;
  const double fraction = std::ldexp(static_cast<double>(bits & 1023), -10);
  double value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

std::vector<u64> all_of_16_bits() {
  std::vector<u64> all(65536);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  return all;
}

std::vector<u64> wide_values() {
  std::vector<u64> all;
  std::mt19937_64 random(3);
  for (const double x :
       {0.0, -0.0, 0.5,    -0.5,    1.5,    2.5,   -2.5, 127.5,      255.5, 65535.5,  2147483647.5, -2147483648.5,
        4e9, 1e19, 9.3e18, -9.3e18, 3.5e38, 1e-40, 6e-8, 16777217.0, 1e300, HUGE_VAL, -HUGE_VAL,    std::nan("")})
    all.push_back(bits_of_value(x)), all.push_back(bits_of_value(static_cast<float>(x)));
  for (const u64 x : {u64{1} << 63, ~u64{0}, u64{0x7fffffff}, u64{0x80000000}, u64{0xffff}, u64{128}, u64{0x1000001}})
    all.push_back(x);
  for (int k = 0; k < 1000; ++k) all.push_back(random());
  for (int k = 0; k < 500; ++k)
    all.push_back(
        bits_of_value(std::ldexp(static_cast<float>(random() % 100000), static_cast<int>(random() % 40) - 20)));
  return all;
}

template <class D, class S> D clamped(S x) {
  if (std::isnan(x)) return sizeof(D) == 8 ? static_cast<D>(u64{1} << 63) : D{0};
  if (x <= static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  return x >= static_cast<S>(std::numeric_limits<D>::max()) ? std::numeric_limits<D>::max() : static_cast<D>(x);
}

/// Converts values with a conversion of the CPU.
template <class D, class S, class F> void check(const std::string& instruction, F f) {
  INFO(instruction);
  const auto inputs = wide_values();
  const auto results = converted(instruction, sizeof(D), sizeof(S), inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const D expected = f(value_of_bits<S>(inputs[k])), result = value_of_bits<D>(results[k]);
    if (std::isnan(static_cast<double>(expected)) && std::isnan(static_cast<double>(result))) continue;
    if (bits_of_value(expected) != bits_of_value(result)) {
      CAPTURE(std::hex, inputs[k], results[k]);
      FAIL("another result");
    }
  }
}

}  // namespace

TEST_CASE("the software GPU widens every half", "[software_gpu]") {
  const auto results = converted("cvt.f32.f16 %d0, %a", 4, 2, all_of_16_bits());
  std::size_t wrong = 0;
  for (u64 k = 0; k < 65536; ++k) {
    const double expected = value_of(k), result = static_cast<double>(value_of_bits<float>(results[k]));
    wrong += std::isnan(expected) ? !std::isnan(result) : bits_of_value(expected) != bits_of_value(result);
  }
  CHECK(wrong == 0);
}

TEST_CASE("the software GPU rounds to half at and between all numbers", "[software_gpu]") {
  // Each finite number, and a quarter, half and three quarters of the way to the next one.
  std::vector<u64> inputs, expected;
  for (u64 k = 0; k + 1 < 0x7c00; ++k)
    for (const u64 sign : {u64{0}, u64{0x8000}})
      for (int quarter = 0; quarter < 4; ++quarter) {
        const double from = value_of(k | sign), to = value_of((k + 1) | sign);
        inputs.push_back(bits_of_value(static_cast<float>(from + (to - from) * quarter / 4)));
        expected.push_back((k | sign) + (quarter == 3 || (quarter == 2 && k % 2 == 1) ? 1 : 0));
      }
  CHECK(converted("cvt.rn.f16.f32 %d0, %a", 2, 4, inputs) == expected);
  const std::vector<u64> large{bits_of_value(65519.0F),
                               bits_of_value(65520.0F),
                               bits_of_value(-1e30F),
                               0x7fc00001,
                               bits_of_value(2e-8F),
                               bits_of_value(3e-8F),
                               0xff800000};
  CHECK(converted("cvt.rn.f16.f32 %d0, %a", 2, 4, large) ==
        std::vector<u64>{0x7bff, 0x7c00, 0xfc00, 0x7fff, 0, 1, 0xfc00});
}

TEST_CASE("the software GPU rounds pairs to bfloat16 and half", "[software_gpu]") {
  // The upper half of the nearest float with 16 zeros below; of two, the even one. A NaN has all bits but the sign.
  const auto rounded = [](float x) -> u64 {
    if (std::isnan(x)) return 0x7fff;
    const u64 bits = bits_of_value(x), below = bits >> 16;
    return below + ((bits & 0xffff) > 0x8000 || ((bits & 0xffff) == 0x8000 && below % 2 == 1) ? 1 : 0);
  };
  auto inputs = wide_values();
  for (const u64 x : {0x3f808000U, 0x3f818000U, 0x3f808001U, 0x7f7f8000U, 0x00008000U, 0x00018000U, 0xff7fffffU})
    inputs.push_back(x);
  const auto low = converted("cvt.rn.bf16x2.f32 %d0, 0f40000000, %a", 4, 4, inputs);
  const auto high = converted("cvt.rn.bf16x2.f32 %d0, %a, 0f40000000", 4, 4, inputs);
  const auto halves = converted("cvt.rn.f16x2.f32 %d0, %a, 0fBF800000", 4, 4, inputs);
  const auto half_of = converted("cvt.rn.f16.f32 %d0, %a", 2, 4, inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const u64 expected = rounded(value_of_bits<float>(inputs[k]));
    REQUIRE(low[k] == (0x40000000 | expected));
    REQUIRE(high[k] == (expected << 16 | 0x4000));
    REQUIRE(halves[k] == (half_of[k] << 16 | 0xbc00));
  }
}

TEST_CASE("the software GPU converts between integers, float and double", "[software_gpu]") {
  check<s32, float>("cvt.rzi.s32.f32 %d0, %a",
                    [](float x) { return clamped<s32>(std::trunc(static_cast<double>(x))); });
  check<u32, float>("cvt.rni.u32.f32 %d0, %a",
                    [](float x) { return clamped<u32>(std::nearbyint(static_cast<double>(x))); });
  check<s64, double>("cvt.rmi.s64.f64 %d0, %a", [](double x) { return clamped<s64>(std::floor(x)); });
  check<u64, double>("cvt.rpi.u64.f64 %d0, %a", [](double x) { return clamped<u64>(std::ceil(x)); });
  check<double, double>("cvt.rni.f64.f64 %d0, %a", [](double x) { return std::nearbyint(x); });
  check<float, u32>("cvt.rn.f32.u32 %d0, %a", [](u32 x) { return static_cast<float>(x); });
  check<float, s64>("cvt.rn.f32.s64 %d0, %a", [](s64 x) { return static_cast<float>(x); });
  check<float, u64>("cvt.rn.f32.u64 %d0, %a", [](u64 x) { return static_cast<float>(x); });
  check<double, u64>("cvt.rn.f64.u64 %d0, %a", [](u64 x) { return static_cast<double>(x); });
  check<float, double>("cvt.rn.f32.f64 %d0, %a", [](double x) { return static_cast<float>(x); });
  check<double, float>("cvt.f64.f32 %d0, %a", [](float x) { return static_cast<double>(x); });
  check<s64, s32>("cvt.s64.s32 %d0, %a", [](s32 x) { return s64{x}; });
  check<u64, u32>("cvt.u64.u32 %d0, %a", [](u32 x) { return u64{x}; });
  check<u32, u64>("cvt.u32.u64 %d0, %a", [](u64 x) { return static_cast<u32>(x); });
  check<u16, u64>("cvt.u16.u64 %d0, %a", [](u64 x) { return static_cast<u16>(x); });
  check<s32, s32>("cvt.s32.s8 %d0, %a", [](s32 x) { return static_cast<s32>(static_cast<s8>(x)); });
}
