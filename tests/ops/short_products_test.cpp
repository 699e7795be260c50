// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products of bf16 and half.

#include <devplace/ops/matmul.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <devplace/ops/linear_gradients.hpp>
#include <devplace/place/place.hpp>
#include <devplace/tensor/transposed.hpp>

#include "support/catch.hpp"
#include "support/product_element.hpp"

namespace dp = devplace;
using dp::detail::cpu_isa;
using dp::detail::epilogue;
using dp::detail::gemm_arguments;

namespace {

/// Half a unit in the last place, relative.
template <class Result>
constexpr double short_rounding = std::is_same_v<Result, dp::bf16>   ? 0x1p-8
                                  : std::is_same_v<Result, dp::half> ? 0x1p-11
                                                                     : 0;

/// A product whose matrices begin one element past an aligned address; `gap` elements follow each row.
template <class T, class Result> struct short_problem {
  gemm_arguments<T, Result> g;
  std::vector<T> a, b, bias;
  std::vector<Result> c, before;
  std::vector<dp::test::exact_element> expected;  // for all instruction sets

  short_problem(std::size_t m, std::size_t n, std::size_t k, int variant, bool integers) {
    const std::size_t gap = (m + n + k) % 3;
    g.m = m, g.n = n, g.k = k;
    g.transpose_a = variant % 2 == 1, g.transpose_b = variant >= 2;
    g.lda = (g.transpose_a ? m : k) + gap, g.ldb = (g.transpose_b ? k : n) + gap, g.ldc = n + gap;
    a.resize((g.transpose_a ? k : m) * g.lda + 1);
    b.resize((g.transpose_b ? n : k) * g.ldb + 1);
    before.resize(m * g.ldc + 1);
    bias.resize(n);
    fill(a, 1, integers);
    fill(b, 2, integers);
    fill(before, 3, integers);
    fill(bias, 4, integers);
    g.a = a.data() + 1, g.b = b.data() + 1;
  }

  template <class E> static void fill(std::vector<E>& values, std::uint32_t seed, bool integers) {
    for (E& value : values) {
      seed = seed * 1664525u + 1013904223u;
      value = E(integers ? static_cast<double>(seed >> 24) / 28 - 4 : static_cast<double>(seed >> 8) / (1 << 23) - 1);
      if (integers) value = E(std::nearbyint(static_cast<double>(value)));
    }
  }

  void run(cpu_isa isa) {
    c = before;
    g.c = c.data() + 1;
    dp::detail::gemm_builtin::run(g, isa);
  }

  /// Counts the elements of C whose error exceeds one rounding to Result and `tolerance` times the summands' magnitude,
  /// and the modified elements between rows.
  std::size_t wrong(double tolerance) {
    if (expected.empty()) {
      expected.resize(g.m * g.n);
      for (std::size_t at = 0; at < expected.size(); ++at)
        expected[at] = dp::test::product_element(g, before.data() + 1, at / g.n, at % g.n);
    }
    std::size_t count = static_cast<float>(c[0]) != static_cast<float>(before[0]);
    for (std::size_t at = 1; at < c.size(); ++at) {
      const std::size_t i = (at - 1) / g.ldc, j = (at - 1) % g.ldc;
      if (i >= g.m || j >= g.n) {
        count += static_cast<float>(c[at]) != static_cast<float>(before[at]);
        continue;
      }
      const auto [value, magnitude] = expected[i * g.n + j];
      const double found = static_cast<double>(c[at]);
      if (tolerance == 0)
        count += found != static_cast<double>(Result(value));
      else
        count += !(std::abs(found - value) <= short_rounding<Result> * std::abs(value) + tolerance * magnitude);
    }
    return count;
  }
};

std::vector<cpu_isa> short_product_isas() {
  std::vector<cpu_isa> result;
  for (const cpu_isa isa : dp::detail::all_isas)
    if (isa <= dp::detail::supported_isa()) result.push_back(isa);
  return result;
}

template <class T, class Result> void check_short_products() {
  struct shape {
    std::size_t m, n, k;
  };
  const std::vector<cpu_isa> isas = short_product_isas();
  int choice = 0;
  for (const std::size_t m : {1U, 2U, 5U, 35U})
    for (const std::size_t n : {1U, 7U, 33U, 65U})
      for (const std::size_t k : {0U, 1U, 3U, 40U})
        for (int variant = 0; variant < 4; ++variant, ++choice) {
          // The sums of small integers are exact in float, and rounded once.
          short_problem<T, Result> p(m, n, k, variant, true);
          p.g.alpha = choice % 5 == 0 ? 2.0f : choice % 11 == 0 ? 0.0f : 1.0f;
          p.g.beta = choice % 3 == 0 ? 0.0f : choice % 3 == 1 ? 1.0f : -2.0f;
          p.g.bias = choice % 2 == 0 ? p.bias.data() : nullptr;
          p.g.epilogue = choice % 7 < 3 ? epilogue::relu : epilogue::none;
          for (const cpu_isa isa : isas) {
            p.run(isa);
            CAPTURE(dp::detail::name_of(isa), m, n, k, variant);
            if (p.wrong(0) != 0) CHECK(p.wrong(0) == 0);
          }
        }
  CHECK(choice == 4 * 4 * 4 * 4);
  // k in one block and in several; more rows and columns than a block has.
  for (const auto [m, n, k] : {shape{70, 300, 530}, shape{200, 40, 2111}, shape{9, 17, 1100}}) {
    const int variant = static_cast<int>((m + n) % 4);
    short_problem<T, Result> p(m, n, k, variant, false);
    p.g.alpha = 0.7f, p.g.beta = -0.3f, p.g.bias = p.bias.data(), p.g.epilogue = epilogue::relu;
    for (const cpu_isa isa : isas) {
      p.run(isa);
      CAPTURE(dp::detail::name_of(isa), m, n, k);
      CHECK(p.wrong(32 * static_cast<double>(std::numeric_limits<float>::epsilon())) == 0);
      const std::vector<Result> by_one = p.c;
      dp::builtin_thread_team team(3);
      const dp::thread_team_scope scope(team);
      p.run(isa);
      CHECK(std::memcmp(by_one.data(), p.c.data(), by_one.size() * sizeof(Result)) == 0);
    }
  }
}

template <class T>
dp::tensor<T, dp::dextents<2>, dp::cpu> short_matrix(std::size_t rows, std::size_t columns, std::uint32_t seed) {
  dp::tensor<T, dp::dextents<2>, dp::cpu> x(dp::dextents<2>(rows, columns));
  std::vector<T> values(x.size());
  short_problem<T, T>::fill(values, seed, true);
  for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = values[i];
  return x;
}

}  // namespace

TEST_CASE("products of bf16 are summed in float and rounded once, by every instruction set", "[ops][short_products]") {
  check_short_products<dp::bf16, dp::bf16>();
  check_short_products<dp::bf16, float>();
}

TEST_CASE("products of half are summed in float and rounded once, by every instruction set", "[ops][short_products]") {
  check_short_products<dp::half, dp::half>();
  check_short_products<dp::half, float>();
}

TEST_CASE("NaN and infinity go through products of bf16 and half, and C is not read with beta zero",
          "[ops][short_products]") {
  for (const cpu_isa isa : short_product_isas()) {
    INFO(dp::detail::name_of(isa));
    short_problem<dp::bf16, dp::bf16> p(20, 40, 37, 0, true);
    short_problem<dp::half, dp::half> q(20, 40, 37, 2, true);
    for (std::size_t at = 0; at < p.before.size(); ++at)
      p.before[at] = dp::bf16::from_bits(0x7fc0), q.before[at] = dp::half::from_bits(0x7e00);
    p.g.epilogue = q.g.epilogue = epilogue::relu;
    p.a[1 + 19 * p.g.lda + 36] = dp::bf16::from_bits(0xffc1);
    q.a[1 + 19 * q.g.lda + 36] = dp::half::from_bits(0xfe01);
    for (std::size_t i = 0; i < 37; ++i)
      q.b[1 + 3 * q.g.ldb + i] = dp::half(60000);  // 37 * 60000 * |a| is beyond half's range
    p.run(isa);
    q.run(isa);
    for (std::size_t i = 0; i < 20; ++i)
      for (std::size_t j = 0; j < 40; ++j) {
        const float x = p.g.c[i * p.g.ldc + j], y = q.g.c[i * q.g.ldc + j];
        const double large = dp::test::product_element(q.g, q.before.data() + 1, i, j).value;
        CHECK(std::isnan(x) == (i == 19));
        CHECK(std::isnan(y) == (i == 19));
        if (i != 19 && j == 3) CHECK(std::isinf(y) == (large >= 65520));
      }
  }
}

TEST_CASE("matmul takes bf16 and half, with results of their type or in float", "[ops][short_products]") {
  const auto a = short_matrix<dp::bf16>(5, 9, 1), b = short_matrix<dp::bf16>(9, 7, 2);
  const auto c = dp::matmul(a, b);
  STATIC_REQUIRE(std::is_same_v<decltype(c)::value_type, dp::bf16>);
  auto wide = dp::tensor<float, dp::dextents<2>, dp::cpu>(dp::dextents<2>(5, 7));
  dp::matmul_into(wide, a, b);
  auto again = dp::tensor<float, dp::dextents<2>, dp::cpu>(dp::dextents<2>(7, 5));
  const dp::matmul_options<dp::mixed<dp::bf16>> doubled{.alpha = 2};
  dp::matmul_into(again, dp::transposed(b), dp::transposed(a), doubled);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) {
      float expected = 0;
      for (std::size_t p = 0; p < 9; ++p) expected += a(i, p) * b(p, j);
      CHECK(wide(i, j) == expected);
      CHECK(c(i, j) == dp::bf16(expected));
      CHECK(again(j, i) == 2 * expected);
    }

  const auto h = short_matrix<dp::half>(4, 6, 3);
  const auto stacked = h.view().reshape(dp::extents<2, 2, 6>{});
  auto products = dp::tensor<dp::half, dp::extents<2, 2, 2>, dp::cpu>();
  dp::matmul_into(products, stacked, stacked.permute(dp::axis<0>{}, dp::axis<2>{}, dp::axis<1>{}));
  float expected = 0;
  for (std::size_t p = 0; p < 6; ++p) expected += h(2, p) * h(3, p);
  CHECK(products(1, 0, 1) == expected);
  CHECK(products(1, 1, 0) == expected);
}

TEST_CASE("gradients of a linear layer in bf16 and half are float, also the sums of the bias",
          "[ops][short_products]") {
  const auto dy = short_matrix<dp::half>(300, 5, 1), x = short_matrix<dp::half>(300, 4, 2);
  auto weight = dp::tensor<float, dp::extents<5, 4>, dp::cpu>();
  auto bias = dp::tensor<float, dp::extents<5>, dp::cpu>();
  const dp::detail::linear_products<dp::mixed<dp::half>, dp::backend::cpu> products{0, 300, 4, 5};
  products.parameter_gradients(weight.data(), bias.data(), dy.data(), x.data(), 0.0f);
  products.parameter_gradients(weight.data(), bias.data(), dy.data(), x.data(), 2.0f);
  auto between = dp::tensor<dp::half, dp::dextents<2>, dp::cpu>(dp::dextents<2>(300, 5));
  auto sums = dp::tensor<float, dp::extents<5>, dp::cpu>();
  dp::detail::relu_gradient_into(between.view(), dy.view(), dy.view(), sums.view(), 0.0f);
  for (std::size_t i = 0; i < 5; ++i) {
    float total = 0, positive = 0;
    for (std::size_t n = 0; n < 300; ++n) total += dy(n, i), positive += dy(n, i) > 0 ? dy(n, i) : dp::half(0);
    CHECK(bias(i) == 3 * total);
    CHECK(sums(i) == positive);
    for (std::size_t j = 0; j < 4; ++j) {
      float sum = 0;
      for (std::size_t n = 0; n < 300; ++n) sum += dy(n, i) * x(n, j);
      CHECK(weight(i, j) == 3 * sum);
    }
  }
}
