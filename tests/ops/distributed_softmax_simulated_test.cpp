// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

#include <devplace/ops/softmax.hpp>
#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using namespace dp::test;

namespace {

/// Returns the softmax of rows of three, in double.
std::vector<double> probabilities(const std::vector<float>& x) {
  std::vector<double> y;
  for (std::size_t i = 0; i != x.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j != 3; ++j) sum += std::exp(double{x[i / 3 * 3 + j]});
    y.push_back(std::exp(double{x[i]}) / sum);
  }
  return y;
}

/// Returns whether softmax and log_softmax of numbers on Where keep the placement and have the right values.
template <dp::placement Where> bool softmax_is_right(std::size_t n) {
  using matrix = dp::extents<dp::dyn, 3>;
  const auto x = distributed_numbers<Where>(matrix(n), 1);
  const auto y = dp::softmax(x);
  const auto z = dp::log_softmax(x);
  STATIC_REQUIRE(std::same_as<decltype(y), const dp::tensor<float, matrix, Where>>);
  STATIC_REQUIRE(std::same_as<decltype(z), const dp::tensor<float, matrix, Where>>);
  const auto expected = probabilities(value_of(x));
  const auto of_y = value_of(y), of_z = value_of(z);
  bool right = of_y.size() == 3 * n && of_z.size() == 3 * n;
  for (std::size_t i = 0; right && i != expected.size(); ++i)
    right = std::abs(of_y[i] - expected[i]) < 1e-6 && std::abs(of_z[i] - std::log(expected[i])) < 1e-5;
  return right;
}

}  // namespace

TEST_CASE("softmax works on the rows of each place", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 3, 20})
    CHECK(softmax_is_right<dp::sharded<dp::axis<0>, 0, 1, 2>>(n));
  CHECK(softmax_is_right<dp::replicated<0, 2>>(5));
}
