// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/detail/half_blocks.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::half;

namespace {

constexpr dp::extents<3, 700> several_blocks;  // rows longer than a block, and together no multiple of a vector

auto halves(std::uint64_t seed) {
  auto x = dp::normal<half, dp::cpu>(several_blocks, dp::seed{seed});
  x.data()[1] = std::numeric_limits<half>::infinity();
  x.data()[2] = half(1e-7f);
  return x;
}

/// The number of elements whose bits are not those of `expected(i)`.
template <class X, class Expected> std::size_t differing(const X& x, const Expected& expected) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto want = expected(i);
    if constexpr (std::is_same_v<typename X::value_type, half>)
      wrong += x.data()[i].bits() != want.bits();
    else
      wrong += !(x.data()[i] == want);
  }
  return wrong;
}

}  // namespace

TEST_CASE("nested functions of halves round each result, in blocks of any operands", "[ops]") {
  const auto x = halves(1), y = halves(2);
  const auto a = [&](std::size_t i) { return static_cast<float>(x.data()[i]); };
  const auto b = [&](std::size_t i) { return static_cast<float>(y.data()[i]); };
  const auto product = [&](std::size_t i) { return static_cast<float>(half(a(i) * b(i))); };
  const dp::tensor nested = x * y + dp::abs(y) * 0.999f;
  CHECK(differing(nested, [&](std::size_t i) {
          return half(product(i) + static_cast<float>(half(std::fabs(b(i)) * 0.999f)));
        }) == 0);
  const dp::tensor root = dp::sqrt(dp::abs(x * y));
  CHECK(differing(root, [&](std::size_t i) { return half(std::sqrt(std::fabs(product(i)))); }) == 0);
  const dp::tensor below = x * y < y;
  CHECK(differing(below, [&](std::size_t i) { return static_cast<std::uint8_t>(product(i) < b(i)); }) == 0);
  const dp::tensor chosen = dp::where(x < y, x * y, y) + x;
  CHECK(differing(chosen, [&](std::size_t i) { return half((a(i) < b(i) ? product(i) : b(i)) + a(i)); }) == 0);

  auto sum = x.clone();
  sum += y * dp::tensor<half, dp::extents<1>, dp::cpu>{0.3f};
  CHECK(differing(sum, [&](std::size_t i) {
          return half(a(i) + static_cast<float>(half(b(i) * static_cast<float>(half(0.3f)))));
        }) == 0);
}

TEST_CASE("functions of halves take operands along any axis", "[ops]") {
  const auto x = halves(3);
  const auto row = dp::normal<half, dp::cpu>(dp::extents<700>{}, dp::seed{4});
  const auto column = dp::normal<half, dp::cpu>(dp::extents<3, 1>{}, dp::seed{5});
  const dp::tensor result = x * row - column;
  CHECK(differing(result, [&](std::size_t i) {
          const half product(static_cast<float>(x.data()[i]) * static_cast<float>(row.data()[i % 700]));
          return half(static_cast<float>(product) - static_cast<float>(column.data()[i / 700]));
        }) == 0);
}

TEST_CASE("conversions of halves within functions round once", "[ops]") {
  const auto x = halves(6);
  const auto wide = dp::normal<double, dp::cpu>(several_blocks, dp::seed{7});
  const auto a = [&](std::size_t i) { return static_cast<float>(x.data()[i]); };
  const dp::tensor scaled = dp::cast<float>(x) * 1.1f;
  CHECK(differing(scaled, [&](std::size_t i) { return a(i) * 1.1f; }) == 0);
  const dp::tensor from_float = dp::cast<half>(dp::cast<float>(x) * 1.1f) + x;
  CHECK(differing(from_float, [&](std::size_t i) { return half(static_cast<float>(half(a(i) * 1.1f)) + a(i)); }) == 0);
  const dp::tensor from_double = dp::cast<half>(wide) + x;
  CHECK(differing(from_double, [&](std::size_t i) { return half(static_cast<float>(half(wide.data()[i])) + a(i)); }) ==
        0);
  const dp::tensor in_double = dp::cast<double>(x * x);
  CHECK(differing(in_double, [&](std::size_t i) { return static_cast<double>(half(a(i) * a(i))); }) == 0);
  const dp::tensor in_bf16 = dp::cast<dp::bf16>(-x);
  CHECK(differing(in_bf16, [&](std::size_t i) { return static_cast<float>(dp::bf16(-a(i))); }) == 0);
}
