// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/take_along.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

TEST_CASE("add_along has a thread for each element unless these are too many, and the bits of a loop", "[cuda]") {
  struct sizes {
    std::size_t outer, count, size, inner;
  };
  for (const auto& [outer, count, size, inner] : {sizes{1, 2000, 300, 1}, {3, 40, 7, 5}, {1, 9, 400'000, 3}}) {
    INFO(outer << " x " << count << " x " << inner << " indices along " << size);
    const std::size_t n = outer * count * inner, lanes = outer * inner;
    mock::device_vector<std::int32_t> indices(n);
    for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::int32_t>(i * 7919 % size);
    const auto values = mock::logits(n);
    mock::device_vector<float> y(lanes * size, 0.1F), expected = y;
    for (std::size_t i = 0; i < n; ++i)
      expected[(i / (count * inner) * size + static_cast<std::size_t>(indices[i])) * inner + i % inner] += values[i];
    const dp::detail::added_elements<float, std::int32_t> add{y.data(), indices.data(), values.data(),
                                                              count,    size,           inner};
    const auto kernel = make_kernel(lanes, add);
    CHECK(kernel.n == (lanes * size > 1'000'000 ? lanes : lanes * size));
    mock::run_kernel(2, kernel);
    CHECK(y == expected);

    indices[0] = static_cast<std::int32_t>(size);  // makes a lane NaN
    mock::run_kernel(2, kernel);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(std::isnan(y[i]) == (i < size * inner && i % inner == 0));
  }
  CHECK(make_kernel(2, dp::detail::added_elements<float, std::int32_t>{}).blocks() == 1);  // an axis without elements
}
