// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/software_gpu/kernel_runner.hpp"

using namespace devplace::test::software_gpu;

namespace {

using function_of_bits = std::function<u64(u64, u64, u64)>;

/// An instruction with registers %d0, %a, %b and %c, whose types the text after it names: "u32 = u32 s16".
struct instruction_case {
  std::string instruction, types;
  function_of_bits expected;
};

/// Makes a function of bits from one of numbers.
template <class D, class A, class F> function_of_bits of1(F f) {
  return [f](u64 a, u64, u64) { return bits_of_value<D>(f(value_of_bits<A>(a))); };
}
template <class T, class F> function_of_bits of2(F f) {
  return
      [f](u64 a, u64 b, u64) { return bits_of_value<T>(static_cast<T>(f(value_of_bits<T>(a), value_of_bits<T>(b)))); };
}
template <class T, class F> function_of_bits of3(F f) {
  return [f](u64 a, u64 b, u64 c) {
    return bits_of_value<T>(static_cast<T>(f(value_of_bits<T>(a), value_of_bits<T>(b), value_of_bits<T>(c))));
  };
}
template <class T, class F> function_of_bits compare(F f) {
  return [f](u64 a, u64 b, u64) { return f(value_of_bits<T>(a), value_of_bits<T>(b)) ? u64{1} : u64{0}; };
}

/// Bit patterns of integers, float and double that tend to be special.
std::vector<u64> special_bits() {
  std::vector<u64> all{0, 1, 2, 31, 32, 33, 63, 64, 255, ~u64{0}};
  for (const double x : {1.0, -1.0, 0.5, -0.0, 1.5, 3e38, -1e-45, 1e-310, 65504.0, 1e300})
    all.push_back(bits_of_value(x)), all.push_back(bits_of_value(static_cast<float>(x)));
  for (const u64 x : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0x007fffffU, 0x80000000U, 0x7fffffffU, 0x8000U, 0x7c00U})
    all.push_back(x);
  for (const int shift : {16, 31, 32, 47, 63}) all.push_back(u64{1} << shift), all.push_back((u64{1} << shift) - 1);
  all.push_back(bits_of_value(std::numeric_limits<double>::infinity()));
  all.push_back(bits_of_value(std::numeric_limits<double>::quiet_NaN()));
  return all;
}

struct row {
  u64 a, b, c;
};
const std::vector<row>& rows() {
  static const std::vector<row> all = [] {
    std::vector<row> made;
    std::mt19937_64 random(7);
    const auto special = special_bits();
    for (const u64 a : special)
      for (const u64 b : special) made.push_back({a, b, special[random() % special.size()]});
    for (int k = 0; k < 500; ++k) made.push_back({random(), random(), random()});
    for (int k = 0; k < 200; ++k) made.push_back({random(), random() % 70, random() % 70});
    return made;
  }();
  return all;
}

u64 without_rest(u64 bits, unsigned bytes) { return bytes == 8 ? bits : bits & ((u64{1} << (8 * bytes)) - 1); }

std::string bits_type(unsigned bytes) { return bytes == 0 ? "pred" : "b" + std::to_string(8 * bytes); }
unsigned bytes_of(const std::string& type) {
  return type == "pred" ? 0 : static_cast<unsigned>(std::stoi(type.substr(type.find_first_of("1368")))) / 8;
}

/// Runs an instruction for all rows, and checks each result.
void check(const instruction_case& one) {
  INFO(one.instruction);
  std::vector<std::string> types;
  for (std::size_t at = 0; at < one.types.size();) {
    const std::size_t end = std::min(one.types.find(' ', at), one.types.size());
    types.push_back(one.types.substr(at, end - at));
    at = end + 1;
  }
  kernel_runner runner;
  const std::size_t n = rows().size();
  row* const in = runner.memory.allocate<row>(n);
  u64* const out = runner.memory.allocate<u64>(n);
  std::copy(rows().begin(), rows().end(), in);
  runner.shape.threads = 96, runner.shape.blocks = static_cast<u32>(n / 96);
  const unsigned result = bytes_of(types[0]);
  std::string body = ".reg ." + bits_type(result) + " %d0;\n.reg .b64 %zero;\n";
  const char* const names[] = {"%a", "%b", "%c"};
  for (std::size_t k = 1; k < types.size(); ++k)
    body += ".reg ." + bits_type(bytes_of(types[k])) + " " + names[k - 1] + ";\n";
  body += "mul.wide.u32 %rd1, %i, 24; add.u64 %rd1, %rd1, %x; mul.wide.u32 %rd2, %i, 8; add.u64 %rd2, %rd2, %y;\n";
  for (std::size_t k = 1; k < types.size(); ++k)
    body += "ld.global." + bits_type(bytes_of(types[k])) + " " + names[k - 1] + ", [%rd1+" +
            std::to_string(8 * (k - 1)) + "];\n";
  body += one.instruction + ";\n";
  body += result == 0 ? "selp.u32 %r1, 1, 0, %d0; st.global.u32 [%rd2], %r1;"
                      : "st.global." + bits_type(result) + " [%rd2], %d0;";
  REQUIRE(runner.run(body, in, out) == "");
  const unsigned size = result == 0 ? 4 : result;
  for (std::size_t k = 0; k < n / 96 * 96; ++k) {
    const u64 expected = without_rest(one.expected(in[k].a, in[k].b, in[k].c), size);
    if (out[k] != expected) {
      CAPTURE(k, std::hex, in[k].a, in[k].b, in[k].c, out[k], expected);
      FAIL("another result");
    }
  }
}

/// A NaN result of 32 bits has no payload on a GPU.
float canonical(float x) { return std::isnan(x) ? value_of_bits<float>(0x7fffffff) : x; }

/// Computes in a rounding mode of the CPU.
template <class T, class F> function_of_bits rounded(int mode, F f) {
  return [mode, f](u64 a, u64 b, u64 c) {
    volatile T x = value_of_bits<T>(a), y = value_of_bits<T>(b), z = value_of_bits<T>(c);
    std::fesetround(mode);
    volatile T result = f(x, y, z);
    std::fesetround(FE_TONEAREST);
    return bits_of_value<T>(canonical(static_cast<T>(result)));
  };
}

float without_denormals(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

}  // namespace

TEST_CASE("the software GPU adds, multiplies and divides integers", "[software_gpu]") {
  const auto sum = [](auto a, auto b) { return static_cast<u64>(a) + static_cast<u64>(b); };
  const auto difference = [](auto a, auto b) { return static_cast<u64>(a) - static_cast<u64>(b); };
  const auto product = [](auto a, auto b) { return static_cast<u64>(a) * static_cast<u64>(b); };
  const auto quotient = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return static_cast<T>(-1);
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(0 - static_cast<u64>(a))
                                                          : static_cast<T>(a / b);
  };
  const auto remainder = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return a;
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  };
  const auto high = [](auto a, auto b) { return static_cast<s64>(a) * static_cast<s64>(b) >> (8 * sizeof(a)); };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto largest = [](auto a, auto b) { return std::max(a, b); };
  for (const auto& one : std::vector<instruction_case>{
           {"add.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(sum)},
           {"add.u64 %d0, %a, %b", "u64 u64 u64", of2<u64>(sum)},
           {"add.s16 %d0, %a, %b", "s16 s16 s16", of2<s16>(sum)},
           {"sub.s64 %d0, %a, %b", "s64 s64 s64", of2<s64>(difference)},
           {"sub.u32 %d0, %a, 7", "u32 u32", of1<u32, u32>([](u32 a) { return a - 7; })},
           {"mul.lo.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(product)},
           {"mul.lo.u64 %d0, %a, %b", "u64 u64 u64", of2<u64>(product)},
           {"mul.hi.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(high)},
           {"mul.hi.u32 %d0, %a, %b", "u32 u32 u32", of2<u32>([](u32 a, u32 b) { return u64{a} * b >> 32; })},
           {"mul.hi.s16 %d0, %a, %b", "s16 s16 s16", of2<s16>(high)},
           {"mul.wide.s32 %d0, %a, %b", "s64 s32 s32",
            [](u64 a, u64 b, u64) { return bits_of_value(s64{static_cast<s32>(a)} * static_cast<s32>(b)); }},
           {"mul.wide.u16 %d0, %a, %b", "u32 u16 u16", [](u64 a, u64 b, u64) { return (a & 0xffff) * (b & 0xffff); }},
           {"mad.lo.s32 %d0, %a, %b, %c", "s32 s32 s32 s32", [](u64 a, u64 b, u64 c) { return a * b + c; }},
           {"mad.wide.u32 %d0, %a, %b, %c", "u64 u32 u32 u64",
            [](u64 a, u64 b, u64 c) { return u64{static_cast<u32>(a)} * static_cast<u32>(b) + c; }},
           {"div.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(quotient)},
           {"div.u64 %d0, %a, %b", "u64 u64 u64", of2<u64>(quotient)},
           {"div.s64 %d0, %a, %b", "s64 s64 s64", of2<s64>(quotient)},
           {"rem.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(remainder)},
           {"rem.u64 %d0, %a, %b", "u64 u64 u64", of2<u64>(remainder)},
           {"min.s32 %d0, %a, %b", "s32 s32 s32", of2<s32>(least)},
           {"min.u64 %d0, %a, %b", "u64 u64 u64", of2<u64>(least)},
           {"max.s64 %d0, %a, %b", "s64 s64 s64", of2<s64>(largest)},
           {"max.u32 %d0, %a, %b", "u32 u32 u32", of2<u32>(largest)},
           {"neg.s32 %d0, %a", "s32 s32", [](u64 a, u64, u64) { return 0 - a; }},
           {"abs.s32 %d0, %a", "s32 s32", [](u64 a, u64, u64) { return static_cast<s32>(a) < 0 ? 0 - a : a; }},
           {"add.cc.u32 %r1, %a, %b; addc.u32 %d0, %c, 0", "u32 u32 u32 u32",
            [](u64 a, u64 b, u64 c) { return c + ((u64{static_cast<u32>(a)} + static_cast<u32>(b)) >> 32); }},
           {"sub.cc.u32 %r1, %a, %b; subc.u32 %d0, %c, 0", "u32 u32 u32 u32",
            [](u64 a, u64 b, u64 c) { return c - (static_cast<u32>(a) < static_cast<u32>(b) ? 1 : 0); }},
           {"mad.lo.cc.u32 %r1, %a, %b, %c; madc.hi.u32 %d0, %a, %b, 0", "u32 u32 u32 u32", [](u64 a, u64 b, u64 c) {
              return (u64{static_cast<u32>(a)} * static_cast<u32>(b) + static_cast<u32>(c)) >> 32;
            }}})
    check(one);
}

TEST_CASE("the software GPU shifts, selects and permutes bits", "[software_gpu]") {
  const auto bit = [](u64 x, u64 k) { return x >> k & 1; };
  for (const auto& one : std::vector<instruction_case>{
           {"and.b32 %d0, %a, %b", "u32 u32 u32", [](u64 a, u64 b, u64) { return a & b; }},
           {"or.b64 %d0, %a, %b", "u64 u64 u64", [](u64 a, u64 b, u64) { return a | b; }},
           {"xor.b16 %d0, %a, %b", "u16 u16 u16", [](u64 a, u64 b, u64) { return a ^ b; }},
           {"not.b32 %d0, %a", "u32 u32", [](u64 a, u64, u64) { return ~a; }},
           {"shl.b32 %d0, %a, %b", "u32 u32 u32",
            [](u64 a, u64 b, u64) { return static_cast<u32>(b) > 31 ? 0 : a << (b & 31); }},
           {"shl.b64 %d0, %a, %b", "u64 u64 u32",
            [](u64 a, u64 b, u64) { return static_cast<u32>(b) > 63 ? 0 : a << (b & 63); }},
           {"shr.u32 %d0, %a, %b", "u32 u32 u32",
            [](u64 a, u64 b, u64) { return static_cast<u32>(b) > 31 ? 0 : static_cast<u32>(a) >> (b & 31); }},
           {"shr.s64 %d0, %a, %b", "s64 s64 u32",
            [](u64 a, u64 b, u64) {
              return static_cast<u64>(static_cast<s64>(a) >> std::min<u64>(static_cast<u32>(b), 63));
            }},
           {"shr.s16 %d0, %a, %b", "s16 s16 u32",
            [](u64 a, u64 b, u64) {
              return static_cast<u64>(static_cast<s16>(a) >> std::min<u64>(static_cast<u32>(b), 15));
            }},
           {"bfi.b32 %d0, %a, %b, %c, 5", "u32 u32 u32 u32",
            [bit](u64 a, u64 b, u64 c) {
              c &= 255;
              for (u64 k = 0; k < 5 && c + k < 32; ++k) b = (b & ~(u64{1} << (c + k))) | bit(a, k) << (c + k);
              return b;
            }},
           {"brev.b32 %d0, %a", "u32 u32",
            [bit](u64 a, u64, u64) {
              u64 result = 0;
              for (u64 k = 0; k < 32; ++k) result |= bit(a, k) << (31 - k);
              return result;
            }},
           {"popc.b64 %d0, %a", "u32 u64", [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
           {"clz.b32 %d0, %a", "u32 u32",
            [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(static_cast<u32>(a))); }},
           {"bmsk.clamp.b32 %d0, %a, %b", "u32 u32 u32",
            [](u64 a, u64 b, u64) {
              u64 mask = 0;
              for (u64 k = 0; k < static_cast<u32>(b) && static_cast<u32>(a) + k < 32; ++k)
                mask |= u64{1} << (static_cast<u32>(a) + k);
              return mask;
            }},
           {"prmt.b32 %d0, %a, %b, %c", "u32 u32 u32 u32",
            [](u64 a, u64 b, u64 c) {
              const u64 both = b << 32 | static_cast<u32>(a);
              u64 result = 0;
              for (unsigned k = 0; k < 4; ++k) {
                const u64 select = c >> (4 * k) & 15, byte = both >> (8 * (select & 7)) & 255;
                result |= ((select & 8) != 0 ? (byte > 127 ? 255 : 0) : byte) << (8 * k);
              }
              return result;
            }},
           {"mov.b64 {%r1, %r2}, %a; mov.b64 %d0, {%r2, %r1}", "u64 u64",
            [](u64 a, u64, u64) { return a << 32 | a >> 32; }},
           {"mov.b32 {%h2, %h1}, %a; mov.b32 %d0, {%h1, %h1}", "u32 u32",
            [](u64 a, u64, u64) { return (a >> 16 & 0xffff) * 0x10001; }}})
    check(one);
}

TEST_CASE("the software GPU computes in float and double as the CPU, to nearest and towards zero", "[software_gpu]") {
  const auto sum = [](auto a, auto b, auto) { return a + b; };
  const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  const int nearest = FE_TONEAREST;
  for (const auto& one : std::vector<instruction_case>{
           {"add.f32 %d0, %a, %b", "f32 f32 f32", rounded<float>(nearest, sum)},
           {"add.rz.f32 %d0, %a, %b", "f32 f32 f32", rounded<float>(FE_TOWARDZERO, sum)},
           {"sub.f32 %d0, %a, %b", "f32 f32 f32", rounded<float>(nearest, [](auto a, auto b, auto) { return a - b; })},
           {"mul.rn.f32 %d0, %a, %b", "f32 f32 f32",
            rounded<float>(nearest, [](auto a, auto b, auto) { return a * b; })},
           {"div.rn.f32 %d0, %a, %b", "f32 f32 f32",
            rounded<float>(nearest, [](auto a, auto b, auto) { return a / b; })},
           {"fma.rn.f32 %d0, %a, %b, %c", "f32 f32 f32 f32", rounded<float>(nearest, fused)},
           {"fma.rz.f32 %d0, %a, %b, %c", "f32 f32 f32 f32", rounded<float>(FE_TOWARDZERO, fused)},
           {"sqrt.rn.f32 %d0, %a", "f32 f32", rounded<float>(nearest, [](auto a, auto, auto) { return std::sqrt(a); })},
           {"rcp.rn.f32 %d0, %a", "f32 f32", rounded<float>(nearest, [](auto a, auto, auto) { return 1 / a; })},
           {"add.f32 %d0, %a, 0f3F800000", "f32 f32", of1<float, float>([](float a) { return canonical(a + 1); })},
           // Of two NaN, the compiler's order of operands decides which payload is kept.
           {"mul.f64 %d0, %a, %a", "f64 f64", of1<double, double>([](double a) { return a * a; })},
           {"fma.rn.f64 %d0, %a, 0d4008000000000000, 0d3FD0000000000000", "f64 f64",
            of1<double, double>([](double a) { return std::fma(a, 3, 0.25); })},
           {"div.rn.f64 %d0, 0d4008000000000000, %a", "f64 f64", of1<double, double>([](double a) { return 3 / a; })}})
    check(one);
}

TEST_CASE("the software GPU finds signs, extremes and approximations of floats", "[software_gpu]") {
  const auto least = [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return canonical(std::isnan(a) ? b : a);
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  };
  const auto largest = [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return canonical(std::isnan(a) ? b : a);
    return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
  };
  for (const auto& one : std::vector<instruction_case>{
           {"neg.f32 %d0, %a", "f32 f32", [](u64 a, u64, u64) { return a ^ 0x80000000U; }},
           {"abs.f64 %d0, %a", "f64 f64", [](u64 a, u64, u64) { return a & ~(u64{1} << 63); }},
           {"copysign.f32 %d0, %a, %b", "f32 f32 f32",
            [](u64 a, u64 b, u64) { return (a & 0x80000000U) | (b & 0x7fffffffU); }},
           {"min.f32 %d0, %a, %b", "f32 f32 f32", of2<float>(least)},
           {"max.f32 %d0, %a, %b", "f32 f32 f32", of2<float>(largest)},
           {"ex2.approx.f32 %d0, %a", "f32 f32", of1<float, float>([](float a) {
              return canonical(static_cast<float>(std::exp2(static_cast<double>(a))));
            })},
           {"rsqrt.approx.ftz.f32 %d0, %a", "f32 f32", of1<float, float>([](float a) {
              return canonical(static_cast<float>(1 / std::sqrt(static_cast<double>(without_denormals(a)))));
            })},
           {"ex2.approx.ftz.f32 %d0, %a", "f32 f32", of1<float, float>([](float a) {
              const double exact = std::exp2(static_cast<double>(without_denormals(a)));
              return canonical(without_denormals(static_cast<float>(exact)));
            })},
           {"div.approx.ftz.f32 %d0, %a, %b", "f32 f32 f32", of2<float>([](float a, float b) {
              return canonical(without_denormals(without_denormals(a) / without_denormals(b)));
            })},
           {"rcp.approx.ftz.f64 %d0, %a", "f64 f64",
            of1<double, double>([](double a) { return value_of_bits<double>(bits_of_value(1 / a) >> 32 << 32); })}})
    check(one);
}

TEST_CASE("the software GPU compares, with and without NaN, and combines predicates", "[software_gpu]") {
  for (const auto& one : std::vector<instruction_case>{
           {"setp.lt.s32 %d0, %a, %b", "pred s32 s32", compare<s32>([](s32 a, s32 b) { return a < b; })},
           {"setp.eq.b16 %d0, %a, %b", "pred u16 u16", compare<u16>([](u16 a, u16 b) { return a == b; })},
           {"setp.ne.f32 %d0, %a, %b", "pred f32 f32", compare<float>([](float a, float b) { return a < b || a > b; })},
           {"setp.neu.f32 %d0, %a, %b", "pred f32 f32", compare<float>([](float a, float b) { return a != b; })},
           {"setp.ltu.f64 %d0, %a, %b", "pred f64 f64", compare<double>([](double a, double b) { return !(a >= b); })},
           {"setp.num.f32 %d0, %a, %b", "pred f32 f32",
            compare<float>([](float a, float b) { return !std::isnan(a) && !std::isnan(b); })},
           {"setp.lt.u32 %p1, %a, %b; setp.lt.u32 %p2, %b, %c; not.pred %p2, %p2; and.pred %p3, %p1, %p2; xor.pred "
            "%p4, %p3, %p1; "
            "not.pred %d0, %p4",
            "pred u32 u32 u32",
            [](u64 a, u64 b, u64 c) {
              const bool first = static_cast<u32>(a) < static_cast<u32>(b),
                         second = static_cast<u32>(b) < static_cast<u32>(c);
              return u64{!((first && !second) != first)};
            }},
           {"setp.lt.s64 %p1, %c, 0; selp.b64 %d0, %a, %b, %p1", "u64 u64 u64 u64",
            [](u64 a, u64 b, u64 c) { return static_cast<s64>(c) < 0 ? a : b; }},
           {"setp.lt.s64 %p1, %c, 0; mov.b32 %d0, %a; @!%p1 add.u32 %d0, %d0, %b", "u32 u32 u32 u64",
            [](u64 a, u64 b, u64 c) { return static_cast<s64>(c) < 0 ? a : a + b; }}})
    check(one);
}
