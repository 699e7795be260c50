// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/softmax.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using values = mock::device_vector<float>;
using exact = mock::device_vector<double>;

/// Returns the softmax of each row, or its logarithm with `log`, by definition and in double.
exact softmax(const values& x, std::size_t n, bool log) {
  exact y(x.size());
  for (std::size_t first = 0; first < x.size(); first += n) {
    const double max = *std::max_element(&x[first], &x[first] + n);
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) sum += std::exp(x[first + c] - max);
    for (std::size_t c = 0; c < n; ++c)
      y[first + c] = log ? x[first + c] - max - std::log(sum) : std::exp(x[first + c] - max) / sum;
  }
  return y;
}

/// Returns the gradient through y = softmax(x) or through its logarithm.
exact gradient(const exact& y, const values& dy, std::size_t n, bool log) {
  exact dx(y.size());
  for (std::size_t first = 0; first < y.size(); first += n) {
    double sum = 0;
    for (std::size_t c = first; c < first + n; ++c) sum += log ? dy[c] : dy[c] * y[c];
    for (std::size_t c = first; c < first + n; ++c) dx[c] = log ? dy[c] - std::exp(y[c]) * sum : y[c] * (dy[c] - sum);
  }
  return dx;
}

/// Returns the largest error relative to `scale`.
double error(const values& result, const exact& expected, double scale) {
  double largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    largest = std::max(largest, std::abs(result[i] - expected[i]) / scale);
  return largest;
}

/// Small integers and memory for results, `offset` elements after addresses that are aligned for wide accesses.
template <class T> struct operands {
  std::vector<mock::device_vector<T>> rooms;
  T *x, *zeros, *y, *dx;

  operands(std::size_t count, std::size_t offset) : rooms(4, mock::device_vector<T>(offset + count)) {
    x = rooms[0].data() + offset, zeros = rooms[1].data() + offset;
    y = rooms[2].data() + offset, dx = rooms[3].data() + offset;
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(static_cast<int>(i * 7919 % 17) - 8);
  }
  static bool same_bits(const T* a, const T* b, std::size_t count) { return std::memcmp(a, b, count * sizeof(T)) == 0; }
};

}  // namespace

TEST_CASE("softmax kernels agree with the definition in double, for rows of any length", "[cuda]") {
  for (const std::size_t n : mock::row_lengths) {
    const std::size_t rows = n > 1024 ? 3 : 19;
    INFO("rows of " << n);
    const values x = mock::logits(rows * n);
    const values dy = mock::logits(rows * n, 5);
    values y(x.size()), dx(x.size());
    mock::run_rows(rows, n, dp::detail::softmax_row<float>{y.data(), x.data(), n});
    CHECK(error(y, softmax(x, n, false), 1) < 1e-6);
    mock::run_rows(rows, n, dp::detail::softmax_backward_row<float>{dx.data(), y.data(), dy.data(), n});
    CHECK(error(dx, gradient(softmax(x, n, false), dy, n, false), 8) < 1e-6);
    mock::run_rows(rows, n, dp::detail::log_softmax_row<float>{y.data(), x.data(), n});
    CHECK(error(y, softmax(x, n, true), 16) < 1e-6);
    mock::run_rows(rows, n, dp::detail::log_softmax_backward_row<float>{dx.data(), y.data(), dy.data(), n});
    CHECK(error(dx, gradient(softmax(x, n, true), dy, n, true), 8 * std::sqrt(static_cast<double>(n))) < 1e-6);
  }
}

TEST_CASE("softmax kernels work in place", "[cuda]") {
  for (const std::size_t n : {std::size_t{10}, std::size_t{300}, std::size_t{9000}}) {
    values x = mock::logits(2 * n);
    const exact expected = softmax(x, n, false);
    mock::run_rows(2, n, dp::detail::softmax_row<float>{x.data(), x.data(), n});
    CHECK(error(x, expected, 1) < 1e-6);
  }
}

TEST_CASE("softmax kernels give NaN for rows with NaN, +infinity or -infinity alone, and leave other rows alone",
          "[cuda]") {
  for (const std::size_t n : {std::size_t{10}, std::size_t{100}, std::size_t{1500}}) {
    values x = mock::logits(5 * n);
    x[3] = not_a_number;
    x[n + 4] = infinity;
    std::fill_n(&x[2 * n], n, -infinity);
    x[3 * n + 1] = -infinity;  // a class with probability 0
    values y(x.size());
    mock::run_rows(5, n, dp::detail::softmax_row<float>{y.data(), x.data(), n});
    CHECK(std::all_of(&y[0], &y[0] + 3 * n, [](float v) { return std::isnan(v); }));
    CHECK(y[3 * n + 1] == 0);
    const values last(&x[3 * n], &x[3 * n] + 2 * n);
    CHECK(error({&y[3 * n], &y[3 * n] + 2 * n}, softmax(last, n, false), 1) < 1e-6);
  }
}

TEST_CASE("softmax kernels find the largest element of a long row in any of its parts", "[cuda]") {
  for (const std::size_t n : {std::size_t{20000}, std::size_t{19999}}) {
    INFO("rows of " << n);
    values x(5 * n, -infinity), y(x.size());
    for (std::size_t c = 0; c < n; ++c) {
      x[c] = static_cast<float>(c) / 64;
      x[n + c] = static_cast<float>(n - c) / 64;
    }
    x[3 * n - 1] = -1e30F;  // of the third row, all others are -infinity
    std::fill_n(&x[3 * n], 2 * n, 1.0F);
    x[4 * n - 1] = infinity;
    x[5 * n - 1] = not_a_number;
    mock::run_rows(5, n, dp::detail::softmax_row<float>{y.data(), x.data(), n});
    const values first(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(3 * n));
    CHECK(error({&y[0], &y[0] + 3 * n}, softmax(first, n, false), 1) < 1e-6);
    CHECK(std::all_of(&y[3 * n], &y[3 * n] + 2 * n, [](float v) { return std::isnan(v); }));
    mock::run_rows(2, n, dp::detail::log_softmax_row<float>{y.data(), x.data(), n});
    CHECK(error({&y[0], &y[0] + 2 * n}, softmax({&x[0], &x[0] + 2 * n}, n, true), 512) < 1e-6);
  }
}

TEMPLATE_TEST_CASE("softmax kernels read rows of up to 1,024 elements once, and longer ones twice", "[cuda]", float,
                   double, dp::bf16) {
  constexpr std::size_t rows = 3;
  for (const std::size_t n : {std::size_t{1024}, std::size_t{1032}, std::size_t{20000}}) {
    operands<TestType> a(rows * n, 0);
    const std::size_t due = (n > 1024 ? 2 : 1) * rows * n * sizeof(TestType);
    CHECK(mock::run_rows(rows, n, dp::detail::softmax_row<TestType>{a.y, a.x, n}) == due);
    CHECK(mock::run_rows(rows, n, dp::detail::log_softmax_row<TestType>{a.y, a.x, n}) == due);
  }
}

TEMPLATE_TEST_CASE("softmax kernels give the same bits wherever rows begin", "[cuda]", float, dp::bf16) {
  mock::device_vector<std::size_t> lengths{136, 300, 1032, 20000};
  for (std::size_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const std::size_t n : lengths) {
    INFO("rows of " << n);
    const std::size_t rows = n > 16 ? 2 : 33;
    for (const std::size_t offset : {1u, 8u}) {
      operands<TestType> first(rows * n, 0), other(rows * n, offset), by_host(rows * n, 0);
      for (operands<TestType>* const each : {&first, &other}) {
        mock::run_rows(rows, n, dp::detail::softmax_row<TestType>{each->y, each->x, n});
        mock::run_rows(rows, n, dp::detail::softmax_backward_row<TestType>{each->dx, each->y, each->x, n});
      }
      CHECK(first.same_bits(first.y, other.y, rows * n));
      CHECK(first.same_bits(first.dx, other.dx, rows * n));
      // With the logarithm 0 and small integers the sums are exact.
      mock::run_rows(rows, n, dp::detail::log_softmax_backward_row<TestType>{other.dx, other.zeros, other.x, n});
      for (std::size_t row = 0; row < rows; ++row)
        dp::detail::log_softmax_backward_row<TestType>{by_host.dx, by_host.zeros, by_host.x, n}(row);
      CHECK(first.same_bits(by_host.dx, other.dx, rows * n));
    }
  }
}
