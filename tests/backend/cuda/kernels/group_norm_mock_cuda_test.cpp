// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/group_norm.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/tensor/half.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

TEMPLATE_TEST_CASE("group_norm's kernels agree with the CPU's loops, for groups of any size", "[cuda]", float,
                   dp::half) {
  using values = mock::device_vector<TestType>;
  // Sums in another order may round a 16-bit value to its neighbour.
  const double relative = sizeof(TestType) == 4 ? 1e-4 : 1e-3, margin = sizeof(TestType) == 4 ? 2e-5 : 1e-3;
  const auto check_near = [&](const auto& found, const auto& expected) {
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(static_cast<float>(found[i]) ==
              Catch::Approx(static_cast<float>(expected[i])).epsilon(relative).margin(margin));
  };
  const auto random = [](std::size_t count, std::uint32_t seed) {
    const auto from = mock::logits(count, seed);
    return values(from.begin(), from.end());
  };
  for (const auto& shape : {dp::detail::group_shape{3, 1, 1}, {2, 5, 1}, {1, 3, 5}, {2, 4, 25}, {3, 2, 700}}) {
    INFO(shape.groups << " groups of " << shape.members << " channels, " << shape.extent << " positions");
    const std::size_t n = shape.row(), rows = 3 * shape.groups, channels = shape.groups * shape.members;
    const values x = random(rows * n, 1), dy = random(rows * n, 2);
    const auto weight = mock::logits(channels, 3), bias = mock::logits(channels, 4);
    values found(x.size()), expected(x.size());
    mock::device_vector<float> terms(x.size()), expected_terms(x.size());
    const auto forward = [&](values& y) {
      return dp::detail::normalize_group<float, TestType>{shape, y.data(), x.data(), weight.data(), bias.data(), 0.5};
    };
    mock::run_rows(rows, n, forward(found));
    for (std::size_t row = 0; row < rows; ++row) forward(expected)(row);
    check_near(found, expected);
    const auto backward = [&](values& dx, mock::device_vector<float>& products) {
      return dp::detail::normalize_backward_group<float, TestType>{
          shape, dx.data(), products.data(), x.data(), dy.data(), weight.data(), 0.5};
    };
    mock::run_rows(rows, n, backward(found, terms));
    for (std::size_t row = 0; row < rows; ++row) backward(expected, expected_terms)(row);
    check_near(found, expected);
    check_near(terms, expected_terms);
  }
}
