// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/mse.cuh>

#include <cstddef>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

TEST_CASE("a loss of elements divides rows of any length among threads", "[cuda]") {
  for (const std::size_t n : mock::row_lengths)
    for (const std::size_t shift : {0u, 1u}) {
      const std::size_t rows = n > 1024 ? 3 : 19, count = rows * n;
      INFO("rows of " << n << ", from element " << shift << " on");
      const auto y = mock::logits(shift + count), target = mock::logits(count, 2);
      auto gradient = y;
      mock::device_vector<float> losses(rows), alone(rows);
      const auto row = [&](float* dy, float* to, const float* of) {
        return dp::detail::mse_row<float>{dy, to, of, target.data(), n};
      };
      mock::run_rows(rows, n, row(nullptr, alone.data(), y.data() + shift));
      mock::run_rows(rows, n, row(gradient.data() + shift, losses.data(), gradient.data() + shift));
      for (std::size_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (std::size_t i = r * n; i < (r + 1) * n; ++i) {
          const float difference = y[shift + i] - target[i];
          sum += static_cast<double>(difference) * static_cast<double>(difference);
          REQUIRE(gradient[shift + i] == 2 * difference);
        }
        CHECK(losses[r] == Catch::Approx(sum).epsilon(1e-6));
        CHECK(alone[r] == losses[r]);
      }
    }
}
