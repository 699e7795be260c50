// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using values = std::vector<float>;
using exact = std::vector<double>;

/// Softmax, or its logarithm with `log`, of each row, by definition and in double.
exact softmax(const values& x, std::size_t n, bool log) {
  exact y(x.size());
  for (std::size_t first = 0; first < x.size(); first += n) {
    const double max = *std::max_element(&x[first], &x[first] + n);
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c)
      sum += std::exp(x[first + c] - max);
    for (std::size_t c = 0; c < n; ++c)
      y[first + c] = log ? x[first + c] - max - std::log(sum) : std::exp(x[first + c] - max) / sum;
  }
  return y;
}

/// The gradient through y = softmax(x) or through its logarithm.
exact gradient(const exact& y, const values& dy, std::size_t n, bool log) {
  exact dx(y.size());
  for (std::size_t first = 0; first < y.size(); first += n) {
    double sum = 0;
    for (std::size_t c = first; c < first + n; ++c)
      sum += log ? dy[c] : dy[c] * y[c];
    for (std::size_t c = first; c < first + n; ++c)
      dx[c] = log ? dy[c] - std::exp(y[c]) * sum : y[c] * (dy[c] - sum);
  }
  return dx;
}

/// The largest error relative to `scale`.
double error(const values& result, const exact& expected, double scale) {
  double largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    largest = std::max(largest, std::abs(result[i] - expected[i]) / scale);
  return largest;
}

}  // namespace

TEST_CASE("softmax kernels agree with the definition in double, for rows of any length", "[cuda]") {
  for (const std::size_t n : simt::row_lengths) {
    const std::size_t rows = n > 1024 ? 3 : 19;
    INFO("rows of " << n);
    const values x = simt::logits(rows * n);
    const values dy = simt::logits(rows * n, 5);
    values y(x.size()), dx(x.size());
    simt::launch_rows(rows, n, dp::detail::softmax_row<float>{y.data(), x.data(), n});
    CHECK(error(y, softmax(x, n, false), 1) < 1e-6);
    simt::launch_rows(rows, n, dp::detail::softmax_backward_row<float>{dx.data(), y.data(), dy.data(), n});
    CHECK(error(dx, gradient(softmax(x, n, false), dy, n, false), 8) < 1e-6);
    simt::launch_rows(rows, n, dp::detail::log_softmax_row<float>{y.data(), x.data(), n});
    CHECK(error(y, softmax(x, n, true), 16) < 1e-6);
    simt::launch_rows(rows, n, dp::detail::log_softmax_backward_row<float>{dx.data(), y.data(), dy.data(), n});
    CHECK(error(dx, gradient(softmax(x, n, true), dy, n, true), 8 * std::sqrt(static_cast<double>(n))) < 1e-6);
  }
}

TEST_CASE("softmax kernels work in place", "[cuda]") {
  for (const std::size_t n : {std::size_t{10}, std::size_t{300}, std::size_t{1500}}) {
    values x = simt::logits(2 * n);
    const exact expected = softmax(x, n, false);
    simt::launch_rows(2, n, dp::detail::softmax_row<float>{x.data(), x.data(), n});
    CHECK(error(x, expected, 1) < 1e-6);
  }
}

TEST_CASE("softmax kernels give NaN for rows with NaN, +infinity or -infinity alone, and leave other rows alone",
          "[cuda]") {
  for (const std::size_t n : {std::size_t{10}, std::size_t{100}, std::size_t{1500}}) {
    values x = simt::logits(5 * n);
    x[3] = not_a_number;
    x[n + 4] = infinity;
    std::fill_n(&x[2 * n], n, -infinity);
    x[3 * n + 1] = -infinity;  // a class with probability 0
    values y(x.size());
    simt::launch_rows(5, n, dp::detail::softmax_row<float>{y.data(), x.data(), n});
    CHECK(std::all_of(&y[0], &y[0] + 3 * n, [](float v) { return std::isnan(v); }));
    CHECK(y[3 * n + 1] == 0);
    const values last(&x[3 * n], &x[3 * n] + 2 * n);
    CHECK(error({&y[3 * n], &y[3 * n] + 2 * n}, softmax(last, n, false), 1) < 1e-6);
  }
}
