// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/matmul.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/in_child.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

// Returns element (i, j) of then(alpha a b + beta c + bias), with a and b as functions of row and column.
template <class A, class B> double element(const A& a, const B& b, std::size_t k, std::size_t i, std::size_t j) {
  long double sum = 0;
  for (std::size_t p = 0; p < k; ++p) sum += static_cast<long double>(a(i, p)) * static_cast<long double>(b(p, j));
  return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("matmul by hand", "[ops]") {
  const dp::tensor<float, dp::extents<2, 3>, on_cpu> a{{1, 2, 3}, {4, 5, 6}};
  const dp::tensor<float, dp::extents<3, 2>, on_cpu> b{{1, 0}, {0, 1}, {2, 2}};
  const auto c = dp::matmul(a, b);
  static_assert(std::is_same_v<decltype(c), const dp::tensor<float, dp::extents<2, 2>, on_cpu>>);
  CHECK(c(0, 0) == 7);
  CHECK(c(0, 1) == 8);
  CHECK(c(1, 0) == 16);
  CHECK(c(1, 1) == 17);
  const auto gram = dp::matmul(a, dp::transposed(a));
  CHECK(gram(0, 0) == 14);
  CHECK(gram(0, 1) == 32);
  CHECK(gram(1, 1) == 77);
  const auto outer = dp::matmul(dp::transposed(a), a);
  static_assert(std::is_same_v<decltype(outer), const dp::tensor<float, dp::extents<3, 3>, on_cpu>>);
  CHECK(outer(0, 2) == 27);
}

TEMPLATE_TEST_CASE("matmul of stored and transposed operands agrees with plain loops", "[ops]", FLOATING_TYPES) {
  const double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  for (const std::size_t m : {1u, 5u, 33u}) {
    for (const std::size_t n : {1u, 10u, 40u}) {
      for (const std::size_t k : {1u, 17u, 64u}) {
        const auto a = random_values<TestType>(dp::dextents<2>{m, k}, 1);
        const auto b = random_values<TestType>(dp::dextents<2>{k, n}, 2);
        const auto a_t = random_values<TestType>(dp::dextents<2>{k, m}, 3);
        const auto b_t = random_values<TestType>(dp::dextents<2>{n, k}, 4);
        const auto c = dp::matmul(a, b);
        const auto c_t = dp::matmul(dp::transposed(a_t), dp::transposed(b_t));
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            CHECK(std::fabs(static_cast<double>(c(i, j)) - element(a, b, k, i, j)) <= tolerance);
            const auto swapped_a = [&](std::size_t row, std::size_t column) { return a_t(column, row); };
            const auto swapped_b = [&](std::size_t row, std::size_t column) { return b_t(column, row); };
            CHECK(std::fabs(static_cast<double>(c_t(i, j)) - element(swapped_a, swapped_b, k, i, j)) <= tolerance);
          }
        }
      }
    }
  }
}

TEST_CASE("matmul_into with every option", "[ops]") {
  const auto a = random_values<double>(dp::extents<6, 9>{}, 1);
  const auto w = random_values<double>(dp::extents<4, 9>{}, 2);
  const auto bias = random_values<double>(dp::extents<4>{}, 3);
  const auto before = random_values<double>(dp::extents<6, 4>{}, 4);
  auto c = before.clone();
  dp::matmul_into(c.view().erased(), a.view().erased(), dp::transposed(w.view().erased()),
                  {.alpha = 2, .beta = 0.5, .bias = bias.data(), .epilogue = dp::epilogue::relu});
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const auto w_t = [&](std::size_t row, std::size_t column) { return w(column, row); };
      const double expected = 2 * element(a, w_t, 9, i, j) + 0.5 * before(i, j) + bias(j);
      CHECK(c(i, j) == Catch::Approx(expected < 0 ? 0 : expected).margin(1e-14));
    }
  }
}

TEST_CASE("with beta 0 the result is not read; NaN of the operands passes through relu", "[ops]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const dp::tensor<float, dp::extents<1, 2>, on_cpu> a{{1, nan}};
  const dp::tensor<float, dp::extents<1, 2>, on_cpu> b{{1, 2}};
  dp::tensor<float, dp::extents<1, 1>, on_cpu> c{{nan}};
  dp::matmul_into(c, b, dp::transposed(b));
  CHECK(c(0, 0) == 5);
  dp::matmul_into(c, a, dp::transposed(b), {.epilogue = dp::epilogue::relu});
  CHECK(std::isnan(c(0, 0)));
}

TEST_CASE("matmul with an extent of 0", "[ops]") {
  const dp::tensor<float, dp::dextents<2>, on_cpu> a(dp::dextents<2>(2, 0)), b(dp::dextents<2>(0, 3));
  const auto c = dp::matmul(a, b);
  for (std::size_t i = 0; i < 6; ++i) CHECK(c.data()[i] == 0);
  CHECK(dp::matmul(b, dp::tensor<float, dp::extents<3, 2>, on_cpu>{{1, 2}, {3, 4}, {5, 6}}).size() == 0);
}

TEST_CASE("matmul of run-time extents that do not fit", "[ops]") {
  const dp::tensor<float, dp::dextents<2>, on_cpu> a(dp::dextents<2>(2, 3)), b(dp::dextents<2>(2, 3));
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_AS(dp::matmul(a, b), dp::shape_error);
  CHECK_THROWS_WITH(dp::matmul(a, b), ContainsSubstring("2x3") && ContainsSubstring("transposed(x)"));
  dp::tensor<float, dp::dextents<2>, on_cpu> c(dp::dextents<2>(3, 3));
  CHECK_THROWS_AS(dp::matmul_into(c, a, dp::transposed(b)), dp::shape_error);
}

TEST_CASE("a result that overlaps an operand is refused; columns of one matrix may be operands and result", "[ops]") {
  dp::tensor<float, dp::extents<4, 6>, on_cpu> m = random_values<float>(dp::extents<4, 6>{}, 1);
  const auto square = [&](std::size_t row, std::size_t column) {
    return m.slice(dp::axis<0>{}, row, row + 2).slice(dp::axis<1>{}, column, column + 2);
  };
  const auto refused = [](const auto& c, const auto& a, const auto& b) {
    CHECK_THROWS_WITH(dp::matmul_into(c, a, b), Catch::Matchers::ContainsSubstring("the result overlaps an operand"));
  };
  refused(square(0, 0), square(0, 0), square(2, 0));
  refused(square(0, 2), square(2, 0), square(0, 3));
  refused(square(0, 2), square(0, 1), square(2, 0));
  refused(square(1, 4), square(2, 0), square(0, 4));
  refused(square(0, 0), dp::transposed(square(0, 0)), square(2, 0));
  const dp::matmul_options<float> with_bias{.bias = m.data() + 7};
  CHECK_THROWS_AS(dp::matmul_into(square(0, 0), square(2, 0), square(2, 2), with_bias), dp::argument_error);

  const auto expected = dp::matmul(square(0, 0), square(0, 4));
  dp::matmul_into(square(0, 2), square(0, 0), square(0, 4));
  for (std::size_t i = 0; i < 4; ++i) CHECK(m(i / 2, 2 + i % 2) == expected(i / 2, i % 2));
  const auto beside = dp::matmul(dp::transposed(square(2, 0)), square(2, 4));
  dp::matmul_into(square(2, 2), dp::transposed(square(2, 0)), square(2, 4));
  CHECK((m(2, 2) == beside(0, 0) && m(3, 3) == beside(1, 1)));
  const auto below = dp::matmul(square(2, 4), square(1, 0));
  dp::matmul_into(square(1, 2), square(2, 4), square(1, 0));
  CHECK((m(1, 2) == below(0, 0) && m(2, 3) == below(1, 1)));

  // Every second matrix of an array: the others may be operands.
  dp::tensor<float, dp::extents<3, 2, 2, 2>, on_cpu> pairs = random_values<float>(dp::extents<3, 2, 2, 2>{}, 2);
  const auto odd = pairs.select(dp::axis<1>{}, 1), even = pairs.select(dp::axis<1>{}, 0);
  const auto squares = dp::matmul(even, even);
  dp::matmul_into(odd, even, even);
  CHECK((pairs(0, 1, 0, 0) == squares(0, 0, 0) && pairs(2, 1, 1, 1) == squares(2, 1, 1)));
  refused(odd, even, odd);
}

TEST_CASE("a product in tf32 is computed in float on the CPU, which has no TF32", "[ops]") {
  using matrix = dp::tensor<float, dp::extents<2, 2>, dp::on<dp::cpu>>;
  const matrix a{{1.0F + 1.0F / 8192, 2}, {3, 4}}, b{{5, 6}, {7, 8.0F + 1.0F / 1024}};
  const auto strict = dp::matmul(a, b);
  const auto fast = dp::matmul<dp::tf32>(a, b);
  STATIC_REQUIRE(std::is_same_v<decltype(strict), decltype(fast)>);
  matrix into{dp::extents<2, 2>{}};
  dp::matmul_into(into, a, b, dp::matmul_options<dp::tf32>{.alpha = 1});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(fast(i, j) == strict(i, j));
      CHECK(into(i, j) == strict(i, j));
    }
  CHECK(dp::matmul<float>(a, b)(1, 1) == strict(1, 1));
}

TEST_CASE("a destructor of a static object can compute a product", "[ops]") {
  CHECK(support::in_child([] {
          struct multiplies_at_exit {
            ~multiplies_at_exit() {
              const auto a = dp::ones<float, dp::on<dp::cpu>>(dp::extents<64, 96>{});
              const auto b = dp::ones<float, dp::on<dp::cpu>>(dp::extents<96, 80>{});
              const dp::tensor<float, dp::extents<64, 80>, dp::on<dp::cpu>> c = dp::matmul(a, b);
              if (c(63, 79) != 96) std::_Exit(3);
            }
          };
          const multiplies_at_exit now;
          static const multiplies_at_exit later;
          return true;
        }).empty());
}
