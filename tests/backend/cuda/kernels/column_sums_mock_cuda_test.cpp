// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/column_sums.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <devplace/backend/cuda/linear_gradients.cuh>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

/// Small integers, whose sums are exact in any order; each row is aligned to 16 bytes.
struct matrix {
  std::size_t rows, columns, ld;
  mock::device_vector<float> storage;

  matrix(std::size_t m, std::size_t n)
      : rows(m), columns(n), ld((n + 3) / 4 * 4), storage(rows * ld, std::numeric_limits<float>::quiet_NaN()) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) data()[i * ld + j] = at(i, j);
  }
  static float at(std::size_t i, std::size_t j) { return static_cast<float>((i * 7919 + j * 31) % 23) - 11; }
  float* data() { return storage.data(); }
};

/// Launches column sums in at most `most_blocks` blocks, with memory for the partial results of `columns` columns.
/// Requires one launch, which leaves the tickets as they were.
template <class Source, class Result>
void sum_columns(const Source& source, std::size_t rows, std::size_t columns, const Result& result,
                 std::size_t most_blocks) {
  unsigned kernels = 0;
  mock::device_vector<unsigned> tickets(columns);
  mock::device_vector<float> values(dp::detail::most_strips * 32 * Source::width);
  dp::detail::launch_column_sums(source, rows, columns, result, {values.data(), tickets.data()},
                                 [&](std::size_t blocks, const auto& kernel) {
                                   ++kernels;
                                   mock::run_kernel(std::min(blocks, most_blocks), kernel, 7);
                                 });
  CHECK(kernels == 1);
  CHECK(tickets == mock::device_vector<unsigned>(columns));
}

}  // namespace

TEST_CASE("column sums equal a loop's, for any number of blocks", "[cuda]") {
  for (const auto& [m, n] : {std::array<std::size_t, 2>{0, 5},
                             {1, 1},
                             {3, 4},
                             {7, 130},
                             {64, 10},
                             {65, 8},
                             {200, 132},
                             {333, 3},
                             {1000, 12}}) {
    INFO(m << " x " << n);
    matrix x(m, n);
    mock::device_vector<float> expected(n, 3.0F);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) expected[j] += 2 * matrix::at(i, j);
    }
    for (const std::size_t most_blocks : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
      mock::device_vector<float> sums(n, 1.0F);
      const dp::detail::sum_result<float> result{sums.data(), 1, 2, 3};
      sum_columns(dp::detail::matrix_source<float, 1>{x.data(), x.ld}, m, n, result, most_blocks);
      CHECK(sums == expected);
    }
    if (n % 4 != 0) continue;
    mock::device_vector<float> sums(n, 1.0F);
    const dp::detail::sum_result<float> result{sums.data(), 1, 2, 3};
    sum_columns(dp::detail::matrix_source<float, 4>{x.data(), x.ld}, m, n, result, 5);
    CHECK(sums == expected);
  }
}

TEST_CASE("column sums with beta 0 do not read what they replace", "[cuda]") {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{64}, std::size_t{500}}) {
    matrix x(rows, 6);
    mock::device_vector<float> expected(6, 0.0F), sums(6, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t i = 0; i < rows; ++i) expected[j] += matrix::at(i, j);
    sum_columns(dp::detail::matrix_source<float, 1>{x.data(), x.ld}, rows, 6,
                dp::detail::sum_result<float>{sums.data()}, 100);
    CHECK(sums == expected);
  }
}

TEST_CASE("the strips of all columns are as many as the partial results allow", "[cuda]") {
  const std::size_t rows = 64 * dp::detail::most_strips + 1;  // enough for one strip more than there may be
  for (const std::size_t n : {std::size_t{1}, std::size_t{40}}) {
    matrix x(rows, n);
    mock::device_vector<float> expected(n, 0.0F), sums(n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < rows; ++i) expected[j] += matrix::at(i, j);
    sum_columns(dp::detail::matrix_source<float, 1>{x.data(), x.ld}, rows, n,
                dp::detail::sum_result<float>{sums.data()}, 1000);
    CHECK(sums == expected);
  }
}

TEST_CASE("column sums apply row weights and the epilogue", "[cuda]") {
  matrix x(70, 5);
  mock::device_vector<float> weights(140), sums(10, 1.0F);
  const mock::device_vector<float> bias{1, -2000, 3, 4, 5};
  mock::device_vector<float> expected(10, 1.0F);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t j = 0; j < 5; ++j) {
    float sum = 0;
    for (std::size_t i = 0; i < 70; ++i) sum += weights[2 * i] * matrix::at(i, j);
    const float before = 3 * sum + 2 + bias[j];
    expected[2 * j] = before < 0 ? 0 : before;
  }
  sum_columns(dp::detail::weighted_rows_source<float, 1>{x.data(), x.ld, weights.data(), 2}, 70, 5,
              dp::detail::sum_result<float>{sums.data(), 2, 3, 2, bias.data(), 1, dp::detail::epilogue::relu}, 100);
  CHECK(sums == expected);
}

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

template <unsigned Width> void check_relu_gradient(std::size_t m, std::size_t n, bool in_place) {
  INFO(m << " x " << n << ", " << Width << " at once, in place " << in_place);
  matrix y(m, n), dy(m, n), apart(m, n);
  float* const to = in_place ? dy.data() : apart.data();
  mock::device_vector<float> gradient(m * n), sums(n, 2.0F), expected(n, 2.0F);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) {
      dy.data()[i * n + j] = matrix::at(3 * i, j);
      gradient[i * n + j] = matrix::at(i, j) > 0 ? matrix::at(3 * i, j) : 0;
      expected[j] += gradient[i * n + j];
    }
  for (std::size_t i = 0; i < m * n; ++i) y.data()[i] = matrix::at(i / n, i % n);
  sum_columns(dp::detail::relu_gradient_source<float, Width>{to, dy.data(), y.data(), n}, m, n,
              dp::detail::sum_result<float>{sums.data(), 1, 1, 1}, 3);
  CHECK(sums == expected);
  CHECK(mock::device_vector<float>(to, to + m * n) == gradient);
}

template <unsigned Width> void check_relu_gradient_of_product(std::size_t m, std::size_t n, std::size_t outputs) {
  INFO(m << " x " << n << ", " << outputs << " outputs, " << Width << " at once");
  mock::device_vector<float> y(m * n), dy(m * outputs), weight(outputs * n), to(m * n), sums(n, 2.0F);
  mock::device_vector<float> gradient(m * n), expected(n, 2.0F);
  for (std::size_t i = 0; i < m * n; ++i) y[i] = matrix::at(i / n, i % n);
  for (std::size_t i = 0; i < m * outputs; ++i) dy[i] = matrix::at(3 * i, 5);
  for (std::size_t i = 0; i < outputs * n; ++i) weight[i] = matrix::at(i, 7);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < outputs && y[i * n + j] > 0; ++k)
        gradient[i * n + j] += dy[i * outputs + k] * weight[k * n + j];
      expected[j] += gradient[i * n + j];
    }
  sum_columns(dp::detail::relu_gradient_source<float, Width>{to.data(), dy.data(), y.data(), n, weight.data(), outputs},
              m, n, dp::detail::sum_result<float>{sums.data(), 1, 1, 1}, 3);
  CHECK(sums == expected);
  CHECK(to == gradient);
}

}  // namespace

TEST_CASE("the gradient of a relu before a product, and its column sums, equal those of loops", "[cuda]") {
  for (const std::size_t outputs : {std::size_t{1}, std::size_t{10}, std::size_t{16}}) {
    check_relu_gradient_of_product<4>(70, 132, outputs);
    check_relu_gradient_of_product<1>(37, 10, outputs);
  }
}

TEST_CASE("the gradient of a relu and its column sums equal those of loops, in place too", "[cuda]") {
  for (const bool in_place : {false, true}) {
    for (const auto& [m, n] : {std::array<std::size_t, 2>{1, 4}, {40, 12}, {300, 8}, {64, 132}})
      check_relu_gradient<4>(m, n, in_place);
    for (const auto& [m, n] : {std::array<std::size_t, 2>{1, 1}, {37, 10}, {129, 33}})
      check_relu_gradient<1>(m, n, in_place);
  }
}

TEST_CASE("the gradient of a relu is 0 for activations 0 and -0, and passes on NaN and the gradients of NaN",
          "[cuda]") {
  const mock::device_vector<float> y{not_a_number, 0, -0.0F, infinite, 1, 1, 1, -1};
  mock::device_vector<float> dy{1, not_a_number, infinite, 2, not_a_number, -infinite, -0.0F, not_a_number};
  mock::device_vector<float> sums(8);
  sum_columns(dp::detail::relu_gradient_source<float, 1>{dy.data(), dy.data(), y.data(), 8}, 1, 8,
              dp::detail::sum_result<float>{sums.data()}, 1);
  CHECK(dy[0] == 1);
  CHECK(dy[1] == 0);
  CHECK(dy[2] == 0);
  CHECK(dy[3] == 2);
  CHECK(std::isnan(dy[4]));
  CHECK(dy[5] == -infinite);
  CHECK(std::signbit(dy[6]));
  CHECK(dy[7] == 0);
  CHECK(sums[3] == 2);
  CHECK(std::isnan(sums[4]));
}
