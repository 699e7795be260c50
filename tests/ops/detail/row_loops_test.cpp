// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/detail/row_loops.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// Returns numbers of every magnitude and sign, with zeros, subnormals and infinities.
std::vector<float> numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(n);
  for (float& value : x) {
    const float magnitude = std::ldexp(1.0F, static_cast<int>(random() % 280) - 150);
    value = random() % 16 == 0 ? std::numeric_limits<float>::infinity() : magnitude;
    if (random() % 2 == 0) value = -value;
  }
  return x;
}

}  // namespace

TEST_CASE("the largest element of a row equals std::max_element's", "[row_loops]") {
  for (std::size_t n = 1; n != 40; ++n) {
    for (unsigned seed = 0; seed != 20; ++seed) {
      const std::vector<float> x = numbers(n, seed);
      CHECK(dp::detail::row_max<float>(x.data(), n) == *std::max_element(x.begin(), x.end()));
      const std::vector<double> wide(x.begin(), x.end());
      CHECK(dp::detail::row_max<double>(wide.data(), n) == *std::max_element(wide.begin(), wide.end()));
    }
  }
  const float* const none = nullptr;
  CHECK(dp::detail::row_max<float>(none, 0) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("the exponentials of a row are summed for every length", "[row_loops]") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{7}, std::size_t{63}, std::size_t{64}, std::size_t{203}}) {
    std::vector<float> x(n), e(n);
    double sum = 0;
    for (std::size_t i = 0; i != n; ++i) {
      x[i] = static_cast<float>(i % 17) * -0.3F;
      sum += std::exp(static_cast<double>(x[i]));
    }
    CHECK(dp::detail::row_exponentials<float>(e.data(), x.data(), 0.0F, n) == Approx(sum).epsilon(1e-6));
    for (std::size_t i = 0; i != n; ++i) CHECK(e[i] == Approx(std::exp(x[i])).epsilon(1e-6));
  }
}
