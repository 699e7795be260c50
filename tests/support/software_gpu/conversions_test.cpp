// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cfenv>
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
  runner.shape.block.x = 256, runner.shape.grid.x = static_cast<u32>((inputs.size() + 255) / 256);
  const auto type = [](unsigned bytes) { return ".b" + std::to_string(8 * bytes); };
  const auto violations =
      runner.run(".reg " + type(std::max(to, 2U)) + " %d0; .reg " + type(std::max(from, 2U)) + " %a;\n" +
                     "setp.ge.u32 %p1, %i, " + std::to_string(inputs.size()) + "; @%p1 ret;\n" +
                     "mul.wide.u32 %rd1, %i, 8; add.u64 %rd2, %rd1, %x; add.u64 %rd3, %rd1, %y;\n" + "ld.global" +
                     type(from) + " %a, [%rd2];\n" + instruction + ";\nst.global" + type(to) + " [%rd3], %d0;",
                 in, out);
  REQUIRE(first_of(violations) == "");
  return std::vector<u64>(out, out + inputs.size());
}

/// The value of 16 bits with a number of mantissa bits, from their definition.
double value_of(u64 bits, int mantissa) {
  const int exponents = 15 - mantissa, bias = (1 << (exponents - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa) & ((1 << exponents) - 1);
  const double fraction = std::ldexp(static_cast<double>(bits & ((u64{1} << mantissa) - 1)), -mantissa);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  if (exponent == (1 << exponents) - 1) value = fraction == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

const struct {
  const char* name;
  int mantissa;
} formats[] = {{"f16", 10}, {"bf16", 7}};

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

/// Converts values with a conversion of the CPU, in a rounding mode.
template <class D, class S, class F>
void check(const std::string& instruction, F f, int mode = FE_TONEAREST, unsigned register_bytes = sizeof(D)) {
  INFO(instruction);
  const auto inputs = wide_values();
  const auto results = converted(instruction, register_bytes, sizeof(S), inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    volatile S x = value_of_bits<S>(inputs[k]);
    std::fesetround(mode);
    volatile D expected = f(static_cast<S>(x));
    std::fesetround(FE_TONEAREST);
    const D result = value_of_bits<D>(results[k]);
    if (std::isnan(static_cast<double>(expected)) && std::isnan(static_cast<double>(result))) continue;
    if (bits_of_value(static_cast<D>(expected)) != bits_of_value(result)) {
      CAPTURE(std::hex, inputs[k], results[k]);
      FAIL("another result");
    }
  }
}

}  // namespace

TEST_CASE("the software GPU widens every number of 16 bits", "[software_gpu]") {
  for (const auto& [name, mantissa] : formats) {
    const auto results = converted(std::string("cvt.f32.") + name + " %d0, %a", 4, 2, all_of_16_bits());
    std::size_t wrong = 0;
    for (u64 k = 0; k < 65536; ++k) {
      const double expected = value_of(k, mantissa), result = static_cast<double>(value_of_bits<float>(results[k]));
      wrong += std::isnan(expected) ? !std::isnan(result) : bits_of_value(expected) != bits_of_value(result);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the software GPU rounds to 16 bits in each mode, at and between all numbers", "[software_gpu]") {
  for (const auto& [name, mantissa] : formats) {
    // Each finite number, and a quarter, half and three quarters of the way to the next one.
    std::vector<u64> inputs;
    std::vector<u64> lower;
    std::vector<int> quarters;
    const u64 finite = mantissa == 10 ? 0x7c00 : 0x7f80;
    for (u64 k = 0; k + 1 < finite; k += 3)
      for (const u64 sign : {u64{0}, u64{0x8000}})
        for (int quarter = 0; quarter < 4; ++quarter) {
          const double from = value_of(k | sign, mantissa), to = value_of((k + 1) | sign, mantissa);
          inputs.push_back(bits_of_value(static_cast<float>(from + (to - from) * quarter / 4)));
          lower.push_back(k | sign), quarters.push_back(quarter);
        }
    for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
      if (mode == "rm" && mantissa == 7) continue;
      const auto results = converted("cvt." + mode + "." + name + ".f32 %d0, %a", 2, 4, inputs);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const bool negative = (lower[k] & 0x8000) != 0, odd = lower[k] % 2 == 1;
        const bool away = mode == "rn" ? quarters[k] == 3 || (quarters[k] == 2 && odd)
                                       : quarters[k] != 0 && mode == (negative ? "rm" : "rp");
        wrong += results[k] != lower[k] + (away ? 1 : 0);
      }
      CAPTURE(name, mode);
      CHECK(wrong == 0);
    }
  }
  const std::vector<u64> large{bits_of_value(65519.0F), bits_of_value(65520.0F), bits_of_value(-1e30F), 0x7fc00001,
                               bits_of_value(2e-8F),    bits_of_value(3e-8F)};
  CHECK(converted("cvt.rn.f16.f32 %d0, %a", 2, 4, large) == std::vector<u64>{0x7bff, 0x7c00, 0xfc00, 0x7fff, 0, 1});
  CHECK(converted("cvt.rz.f16.f32 %d0, %a", 2, 4, large) == std::vector<u64>{0x7bff, 0x7bff, 0xfbff, 0x7fff, 0, 0});
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
  check<float, u64>("cvt.rp.f32.u64 %d0, %a", [](u64 x) { return static_cast<float>(x); }, FE_UPWARD);
  check<float, s32>("cvt.rz.f32.s32 %d0, %a", [](s32 x) { return static_cast<float>(x); }, FE_TOWARDZERO);
  check<double, u64>("cvt.rn.f64.u64 %d0, %a", [](u64 x) { return static_cast<double>(x); });
  check<float, double>("cvt.rn.f32.f64 %d0, %a", [](double x) { return static_cast<float>(x); });
  check<float, double>("cvt.rm.f32.f64 %d0, %a", [](double x) { return static_cast<float>(x); }, FE_DOWNWARD);
  check<double, float>("cvt.f64.f32 %d0, %a", [](float x) { return static_cast<double>(x); });
  check<float, float>("cvt.sat.f32.f32 %d0, %a", [](float x) { return x > 0 ? std::min(x, 1.0F) : 0.0F; });
  check<s64, s32>("cvt.s64.s32 %d0, %a", [](s32 x) { return s64{x}; });
  check<u64, u32>("cvt.u64.u32 %d0, %a", [](u32 x) { return u64{x}; });
  check<u32, u64>("cvt.u32.u64 %d0, %a", [](u64 x) { return static_cast<u32>(x); });
  check<s32, s32>("cvt.s32.s8 %d0, %a", [](s32 x) { return static_cast<s32>(static_cast<s8>(x)); });
  check<u32, s32>("cvt.sat.u8.s32 %d0, %a", [](s32 x) { return static_cast<u32>(std::clamp(x, 0, 255)); });
  check<s16, s64>("cvt.sat.s16.s64 %d0, %a", [](s64 x) { return static_cast<s16>(std::clamp<s64>(x, -32768, 32767)); });
}

TEST_CASE("the software GPU computes with numbers of 16 bits and pairs of them, rounded once", "[software_gpu]") {
  std::mt19937_64 random(5);
  std::vector<u64> inputs(4000);
  for (auto& bits : inputs) bits = random();
  for (const auto& [name, mantissa] : formats) {
    // Rounds a sum or product, which is exact in long double, by comparison with the neighbours of the result.
    const auto nearest = [m = mantissa](long double exact, u64 result) {
      const auto distance = [&](u64 bits) { return std::abs(static_cast<long double>(value_of(bits, m)) - exact); };
      const u64 magnitude = result & 0x7fff, sign = result & 0x8000;
      const u64 infinity = m == 10 ? 0x7c00 : 0x7f80;
      if (magnitude >= infinity) return std::abs(exact) >= static_cast<long double>(value_of(infinity - 1, m));
      const long double mine = distance(result), above = distance((magnitude + 1) | sign);
      const long double below = magnitude == 0 ? distance(1 | (sign ^ 0x8000)) : distance((magnitude - 1) | sign);
      return mine <= above && mine <= below && ((mine != above && mine != below) || result % 2 == 0);
    };
    const std::string type(name);
    // %a holds four numbers: of the pairs (0, 1) and (2, 3).
    const auto fused = converted("mov.b64 {%r1, %r2}, %a; fma.rn." + type + "x2 %d0, %r1, %r2, %r2", 4, 8, inputs);
    const auto sums = converted("mov.b64 {%h1, %h2, %h3, %h4}, %a; add.rn." + type + " %d0, %h1, %h2", 2, 8, inputs);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto part = [&](unsigned n) {
        return static_cast<long double>(value_of(inputs[k] >> (16 * n) & 0xffff, mantissa));
      };
      for (unsigned half_of = 0; half_of < 2; ++half_of) {
        const long double x = part(half_of), y = part(half_of + 2);
        // Exponents far apart exceed even long double.
        if (!std::isfinite(x * y) || (mantissa == 7 && std::abs(std::log2(std::abs(x))) > 40)) continue;
        wrong += !nearest(x * y + y, fused[k] >> (16 * half_of) & 0xffff);
      }
      const long double sum = part(0) + part(1);
      if (std::isfinite(sum) && (mantissa == 10 || std::abs(part(0)) < 64 * std::abs(part(1))))
        wrong += !nearest(sum, sums[k]);
    }
    CAPTURE(name);
    CHECK(wrong == 0);
    const auto packed = converted("mov.b64 {%f1, %f2}, %a; cvt.rn." + type + "x2.f32 %d0, %f1, %f2", 4, 8, inputs);
    const auto low = converted("mov.b64 {_, %f2}, %a; cvt.rn." + type + ".f32 %d0, %f2", 2, 8, inputs);
    const auto high = converted("mov.b64 {%f1, _}, %a; cvt.rn." + type + ".f32 %d0, %f1", 2, 8, inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k) wrong += packed[k] != (high[k] << 16 | low[k]);
    CHECK(wrong == 0);
    const auto largest = converted("mov.b64 {%r1, %r2}, %a; max." + type + "x2 %d0, %r1, %r2", 4, 8, inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const double x = value_of(inputs[k] & 0xffff, mantissa), y = value_of(inputs[k] >> 32 & 0xffff, mantissa);
      if (!std::isnan(x) && !std::isnan(y)) wrong += value_of(largest[k] & 0xffff, mantissa) != std::max(x, y);
    }
    CHECK(wrong == 0);
  }
}
