// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/product.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::detail::epilogue;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

float element(std::size_t i) { return static_cast<float>(i * 37 % 17) / 8 - 1; }

/// Returns whether the kernel computes C = then(beta C + bias) and leaves the elements behind the columns unchanged.
template <unsigned Width>
bool finishes(std::size_t m, std::size_t n, float beta, bool with_bias, epilogue then, unsigned blocks) {
  constexpr std::size_t ld = 264;
  mock::device_vector<float> c(40 * ld), bias(ld);
  for (std::size_t i = 0; i < 40 * ld; ++i) c[i] = beta == 0 ? not_a_number : element(i);
  for (std::size_t j = 0; j < ld; ++j) bias[j] = element(5 * j);
  const mock::device_vector<float> before = c;
  mock::run_kernel(
      blocks,
      dp::detail::finish_kernel<float, Width>{m, n, ld, c.data(), beta, with_bias ? bias.data() : nullptr, then},
      blocks);
  for (std::size_t i = 0; i < 40 * ld; ++i) {
    const bool inside = i / ld < m && i % ld < n;
    float x = before[i];
    if (inside) {
      x = (beta == 0 ? 0 : beta * x) + (with_bias ? bias[i % ld] : 0);
      if (then == epilogue::relu && x < 0) x = 0;
    }
    if (std::isnan(x) ? !std::isnan(c[i]) : x != c[i]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the kernel after a product adds the bias and applies the activation, for any shape", "[cuda]") {
  for (const auto& [m, n] : {std::array<std::size_t, 2>{1, 4}, {31, 8}, {32, 128}, {33, 132}, {40, 260}})
    for (const float beta : {0.0F, 1.0F, -2.0F})
      for (const bool with_bias : {false, true})
        for (const epilogue then : {epilogue::none, epilogue::relu}) {
          INFO(m << " x " << n << ", beta " << beta << ", bias " << with_bias);
          CHECK(finishes<4>(m, n, beta, with_bias, then, 2));
          CHECK(finishes<1>(m, n - 1, beta, with_bias, then, 3));
        }
}

TEST_CASE("the activation after a product keeps NaN, infinity and -0", "[cuda]") {
  mock::device_vector<float> c{not_a_number, -not_a_number, infinite, -infinite, -0.0F, 0.0F, -1, 2};
  mock::run_kernel(1, dp::detail::finish_kernel<float, 4>{1, 8, 8, c.data(), 1, nullptr, epilogue::relu}, 1);
  CHECK(std::isnan(c[0]));
  CHECK(std::isnan(c[1]));
  CHECK(c[2] == infinite);
  CHECK(c[3] == 0);
  CHECK(std::signbit(c[4]));
  CHECK(!std::signbit(c[5]));
  CHECK(c[6] == 0);
  CHECK(c[7] == 2);
}

TEST_CASE("products of rows with a vector are the same with a warp or a block per row", "[cuda]") {
  mock::device_vector<double> matrix(40 * 300), vector(600);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<double>(i % 19) - 9;
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<double>(i % 7) - 3;
  for (const auto& [rows, count] : {std::array<std::size_t, 2>{1, 1}, {3, 300}, {40, 33}, {9, 256}}) {
    mock::device_vector<double> expected(rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t p = 0; p < count; ++p) expected[i] += matrix[i * 300 + p] * vector[2 * p];
    mock::device_vector<double> by_warps(rows), by_blocks(rows);
    mock::run_kernel(2,
                     dp::detail::row_products_kernel<double, 32>{
                         rows, count, matrix.data(), 300, vector.data(), 2, {by_warps.data()}},
                     3);
    mock::run_kernel(2,
                     dp::detail::row_products_kernel<double, 256>{
                         rows, count, matrix.data(), 300, vector.data(), 2, {by_blocks.data()}},
                     4);
    CHECK(by_warps == expected);
    CHECK(by_blocks == expected);
  }
}
