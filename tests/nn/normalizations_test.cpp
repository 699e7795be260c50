// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalizations of samples; batch_norm_test.cpp has the normalization of batches.

#include <cmath>
#include <cstddef>
#include <limits>
#include <ratio>
#include <type_traits>
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/element_types.hpp"
#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

TEST_CASE("layer_norm agrees with PyTorch", "[nn]") {
  using row = dp::extents<5, 7>;
  using rows = dp::extents<5, 3, 7>;
  compare_with_pytorch_in_both<nn::sequential<nn::input<7>, nn::layer_norm<7>>, row, row>("layer_norm",
                                                                                          {"weight", "bias"});
  compare_with_pytorch<nn::sequential<nn::input<3, 7>, nn::layer_norm<7>>, double, rows, rows>("layer_norm_axes",
                                                                                               {"weight", "bias"});
  compare_with_pytorch<nn::sequential<nn::input<7>, nn::layer_norm<7, std::ratio<1, 1000>>>, double, row, row>(
      "layer_norm_epsilon", {"weight", "bias"});
}

TEST_CASE("layer_norm's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<3, 7>, nn::layer_norm<7>>>(dp::seed{4}).worst < 1e-6);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 9>, nn::layer_norm<9>, nn::linear<9, 3>>>(dp::seed{5}).worst <
        1e-6);
}

TEST_CASE("layer_norm stays accurate where the mean is large", "[nn]") {
  constexpr std::size_t n = 64;
  std::vector<float> x(n), y(n), weight(n, 1), bias(n, 0);
  for (std::size_t c = 0; c < n; ++c) x[c] = 1e6F + static_cast<float>(c % 2);
  dp::detail::normalize_row<float, true>{y.data(), x.data(), weight.data(), bias.data(), n, 0}(0);
  for (std::size_t c = 0; c < n; ++c) CHECK(y[c] == (c % 2 == 0 ? -1 : 1));
}

TEMPLATE_TEST_CASE("layer_norm stays accurate where the first element lies far from the others", "[nn]",
                   FLOATING_TYPES) {
  using T = TestType;
  constexpr std::size_t n = 1000;
  std::vector<T> x(n), y(n), weight(n, 1), bias(n, 0);
  for (const double first : {1e3, -1e8, 1e30}) {
    for (std::size_t c = 0; c < n; ++c)
      x[c] = c == 0 ? static_cast<T>(first) : static_cast<T>(std::sin(static_cast<double>(c)));
    long double mean = 0, variance = 0;
    for (const T value : x) mean += static_cast<long double>(value) / n;
    for (const T value : x)
      variance += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean) / n;
    dp::detail::normalize_row<T, true>{y.data(), x.data(), weight.data(), bias.data(), n, 0}(0);
    for (std::size_t c = 0; c < n; ++c) {
      CAPTURE(first, c);
      const long double expected = (static_cast<long double>(x[c]) - mean) / std::sqrt(variance);
      // In double the sums are no more accurate than the elements, so the mean has a rounding error.
      const long double error = std::fabs(static_cast<long double>(y[c]) - expected), size = std::fabs(expected);
      const long double allowed =
          std::is_same_v<T, float> ? 4 * size : 16 * (size + std::fabs(mean / std::sqrt(variance)));
      CHECK(error <= static_cast<long double>(std::numeric_limits<T>::epsilon()) * allowed);
    }
  }
}

TEST_CASE("rms_norm agrees with PyTorch", "[nn]") {
  using row = dp::extents<5, 7>;
  using rows = dp::extents<5, 3, 7>;
  compare_with_pytorch_in_both<nn::sequential<nn::input<7>, nn::rms_norm<7>>, row, row>("rms_norm", {"weight"});
  compare_with_pytorch<nn::sequential<nn::input<3, 7>, nn::rms_norm<7>>, double, rows, rows>("rms_norm_axes",
                                                                                             {"weight"});
  compare_with_pytorch<nn::sequential<nn::input<7>, nn::rms_norm<7, std::ratio<1, 1000>>>, double, row, row>(
      "rms_norm_epsilon", {"weight"});
}

TEST_CASE("rms_norm's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<3, 7>, nn::rms_norm<7>>>(dp::seed{4}).worst < 1e-6);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 9>, nn::rms_norm<9>, nn::linear<9, 3>>>(dp::seed{5}).worst <
        1e-6);
}

TEST_CASE("group_norm agrees with PyTorch", "[nn]") {
  using row = dp::extents<5, 6>;
  using images = dp::extents<2, 6, 3, 5>;
  using small = dp::extents<3, 4, 2>;
  compare_with_pytorch<nn::sequential<nn::input<6>, nn::group_norm<2, 6>>, double, row, row>(
      "normalizations/group_norm", {"weight", "bias"});
  compare_with_pytorch_in_both<nn::sequential<nn::input<6, 3, 5>, nn::group_norm<3, 6>>, images, images>(
      "normalizations/group_norm_images", {"weight", "bias"});
  compare_with_pytorch<nn::sequential<nn::input<4, 2>, nn::group_norm<1, 4, std::ratio<1, 1000>>>, double, small,
                       small>("normalizations/group_norm_options", {"weight", "bias"});
}

TEST_CASE("group_norm's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<6, 3, 5>, nn::group_norm<3, 6>>>(dp::seed{4}).worst < 1e-6);
}
