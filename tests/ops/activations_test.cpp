// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/activations.hpp>

#include <cmath>
#include <limits>

#include <devplace/ops/creation.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/ulps.hpp"

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;
using dp::test::larger;

namespace {

/// Returns the largest error of `formula` for numbers from `low` to `high`, in units of the last place. Ignores results
/// below the smallest normal number, which have the error of a product with a subnormal number.
template <class T, class Formula, class Exact>
double worst_between(double low, double high, const Formula& formula, const Exact& exact) {
  constexpr int count = 200000;
  dp::tensor<T, dp::extents<count>, on_cpu> x(dp::extents<count>{});
  for (int i = 0; i < count; ++i) x.data()[i] = static_cast<T>(low + (high - low) * i / (count - 1));
  const dp::tensor<T, dp::extents<count>, on_cpu> y = formula(x);
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const auto expected = static_cast<dp::test::wider<T>>(exact(static_cast<long double>(x.data()[i])));
    if (std::fabs(y.data()[i]) >= std::numeric_limits<T>::min())
      worst = larger(worst, dp::test::ulps(y.data()[i], expected));
  }
  return worst;
}

long double exact_gelu(long double x) { return x * std::erfc(-x * 0.70710678118654752440L) / 2; }
long double exact_silu(long double x) { return x / (1 + std::exp(-x)); }
long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_gelu_tanh(long double x) {
  return x / (1 + std::exp(-1.59576912160573071176L * (x + 0.044715L * x * x * x)));
}
long double exact_softplus(long double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

}  // namespace

TEMPLATE_TEST_CASE("activations are accurate also where they almost vanish", "[ops]", FLOATING_TYPES) {
  const bool single = std::is_same_v<TestType, float>;
  const auto gelu = [](const auto& x) { return dp::gelu(x); };
  CHECK(worst_between<TestType>(single ? -12.9 : -37.4, 40, gelu, exact_gelu) <= 10);
  const auto silu = [](const auto& x) { return dp::silu(x); };
  CHECK(worst_between<TestType>(single ? -87 : -708, 40, silu, exact_silu) <= 6);
  CHECK(worst_between<TestType>(-3, 3, silu, exact_silu) <= 6);
  const auto sigmoid = [](const auto& x) { return dp::sigmoid(x); };
  CHECK(worst_between<TestType>(single ? -87 : -708, 40, sigmoid, exact_sigmoid) <= 3);
  CHECK(worst_between<TestType>(-3, 3, sigmoid, exact_sigmoid) <= 3);
  const auto softplus = [](const auto& x) { return dp::softplus(x); };
  CHECK(worst_between<TestType>(single ? -87 : -708, 40, softplus, exact_softplus) <= 4);
  CHECK(worst_between<TestType>(-3, 3, softplus, exact_softplus) <= 4);
  // The exponential multiplies the relative error of its argument.
  const auto gelu_tanh = [](const auto& x) { return dp::gelu_tanh(x); };
  CHECK(worst_between<TestType>(-2, 40, gelu_tanh, exact_gelu_tanh) <= 20);
  CHECK(worst_between<TestType>(-9, -2, gelu_tanh, exact_gelu_tanh) <= 200);
}
