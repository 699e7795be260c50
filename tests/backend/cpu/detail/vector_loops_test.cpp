// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cpu/detail/vector_loops.hpp>

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/gelu.hpp>
#include <devplace/ops/activations.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/softmax.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;
using floats = dp::tensor<float, dp::extents<dp::dyn>, on_cpu>;

constexpr std::size_t most = 100;

/// Returns numbers of every kind; the positions of special ones depend on `first`.
floats numbers(std::size_t count, std::size_t first) {
  using limits = std::numeric_limits<float>;
  constexpr float special[] = {0.0F, -0.0F, limits::infinity(), -limits::infinity(), limits::quiet_NaN(), 1e-41F};
  floats x = dp::normal<float, on_cpu>(dp::extents<dp::dyn>(count), dp::seed{first + 1});
  for (std::size_t i = 0; i != count; ++i)
    if ((i + first) % 5 == 0) x(i) = special[(i + first) / 5 % 6];
  return x;
}

/// Calls `check(formula)` with formulas of two operands.
template <class Check> void for_each_formula(const Check& check) {
  check([](const auto& x, const auto& y) { return x + y; });
  check([](const auto& x, const auto& y) { return dp::relu(x * y - 0.5F) / (y + 2.0F); });
  check([](const auto& x, const auto& y) { return dp::where(y <= 0, 0, x); });
  check([](const auto& x, const auto& y) { return dp::where(x > y, x * y + 1.0F, y); });
  check([](const auto& x, const auto& y) { return dp::maximum(dp::abs(x), -y); });
  check([](const auto& x, const auto& y) { return dp::exp(x) - y; });
  check([](const auto& x, const auto& y) { return y * dp::tanh(x); });
  check([](const auto& x, const auto& y) { return dp::sigmoid(x) - y; });
  check([](const auto& x, const auto& y) { return dp::erf(x) - dp::expm1(y); });
  check([](const auto& x, const auto& y) { return dp::log(x) + dp::log(dp::abs(y)); });
  check([](const auto& x, const auto& y) { return dp::gelu(x) - dp::softplus(y); });
  check([](const auto& x, const auto& y) { return dp::gelu_tanh(x) * dp::silu(y); });
  check([](const auto& x, const auto& y) { return dp::nn::gelu::gradient(y, x); });
  check([](const auto& x, const auto& y) { return dp::cast<float>(dp::cast<std::int32_t>(x)) + y; });
}

bool same_bits(const floats& a, const floats& b, std::size_t first) {
  return std::memcmp(a.data(), b.data() + first, a.size() * sizeof(float)) == 0;
}

DEVPLACE_UNFUSED_BEGIN
/// The functor that for_each runs for an assignment, by one of the functions under test.
struct stores_numbers {
  float* to;
  const float* from;

  void range(std::size_t begin, std::size_t end) const {
    dp::detail::independent_loop(begin, end, [of = *this](std::size_t i) {
      of.to[i] = dp::detail::fast_tanh(of.from[i]) * of.from[i] + dp::detail::fast_exp(of.from[i]);
    });
  }
};
DEVPLACE_UNFUSED_END

}  // namespace

TEST_CASE("an element has the same bits wherever it lies in a vector or after the last one", "[backend]") {
  const floats x = numbers(most, 0), y = numbers(most, 2);
  for_each_formula([&](const auto& formula) {
    const floats whole = formula(x, y);
    bool same = true;
    for (std::size_t first = 0; first != 40; ++first) {
      for (const std::size_t count : {1U, 7U, 31U, 32U, 33U, 60U}) {
        const auto part = [&](const floats& of) { return of.view().slice(dp::axis<0>{}, first, first + count); };
        floats result{dp::extents<dp::dyn>(count)};
        result = formula(part(x), part(y));
        same = same && same_bits(result, whole, first);
        dp::assign(result.view(), part(x));
        result = formula(result, part(y));
        same = same && same_bits(result, whole, first);
      }
    }
    CHECK(same);
  });
}

TEST_CASE("an element of type double has the same bits in alternating vectors and after the last one", "[backend]") {
  using doubles = dp::tensor<double, dp::extents<dp::dyn>, on_cpu>;
  const doubles x = dp::normal<double, on_cpu>(dp::extents<dp::dyn>(most), dp::seed{1});
  const auto formula = [](const auto& of) { return dp::gelu(of) * dp::tanh(of); };
  const doubles whole = formula(x);
  for (const std::size_t count : {5U, 31U, 33U, 60U}) {
    for (std::size_t first = 0; first != 40; ++first) {
      const doubles part = formula(x.view().slice(dp::axis<0>{}, first, first + count));
      REQUIRE(std::memcmp(part.data(), whole.data() + first, count * sizeof(double)) == 0);
    }
  }
}

TEST_CASE("every instruction set gives the same bits", "[backend]") {
  const floats x = numbers(most, 1), rows = dp::normal<float, on_cpu>(dp::extents<dp::dyn>(most), dp::seed{7});
  const auto check = [](std::size_t count, const auto& loop_into) {
    const floats zeros = dp::zeros<float, on_cpu>(dp::extents<dp::dyn>(most));
    floats expected = zeros.clone(), result = zeros.clone();
    dp::detail::range_for_target(loop_into(expected.data()), 0, count);
    dp::detail::run_range(loop_into(result.data()), 0, count);
    CHECK(same_bits(result, expected, 0));
#if defined(__x86_64__) && !defined(__AVX2__)
    result = zeros.clone();
    dp::detail::range_for_old_processors(loop_into(result.data()), 0, count);
    CHECK(same_bits(result, expected, 0));
    if (dp::detail::supported_isa() == dp::detail::cpu_isa::generic) DEVPLACE_SKIP("this processor has no AVX2");
    result = zeros.clone();
    dp::detail::range_for_avx2(loop_into(result.data()), 0, count);
    CHECK(same_bits(result, expected, 0));
#endif
#if defined(DEVPLACE_AVX512_WITHOUT_FMA)
    if (dp::detail::supported_isa() < dp::detail::cpu_isa::avx512) DEVPLACE_SKIP("this processor has no AVX-512");
    result = zeros.clone();
    dp::detail::range_for_avx512(loop_into(result.data()), 0, count);
    CHECK(same_bits(result, expected, 0));
#endif
  };
  check(most, [&x](float* to) { return stores_numbers{to, x.data()}; });
  check(1, [&rows](float* to) { return dp::detail::softmax_row<float>{to, rows.data(), most}; });
  const floats targets = dp::normal<float, on_cpu>(dp::extents<dp::dyn>(most), dp::seed{8});
  float losses[4];
  check(4, [&](float* to) { return dp::detail::mse_row<float>{to, losses, rows.data(), targets.data(), most / 4}; });
}
