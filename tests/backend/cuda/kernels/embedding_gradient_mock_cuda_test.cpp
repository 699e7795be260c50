// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/embedding_gradient.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

TEMPLATE_TEST_CASE("the kernel of embedding's gradient adds the rows of each index, and none out of range", "[cuda]",
                   float, dp::bf16) {
  for (const std::size_t columns : {1u, 4u, 8u, 33u, 36u, 200u, 264u})
    for (const std::size_t offset : {0u, 1u}) {
      const bool accumulate = offset == columns % 2;
      constexpr std::size_t rows = 19, count = 100, without = 4;
      mock::device_vector<std::int32_t> indices(count);
      for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<std::int32_t>(i * i % 23) - 2;  // -2 to 20
      mock::device_vector<TestType> dy_storage(count * columns + offset);
      TestType* const dy = dy_storage.data() + offset;
      mock::device_vector<float> sums(rows * columns + 1, 0.5F);
      mock::device_vector<float> expected(sums.size(), accumulate ? 0.5F : 0.0F);
      expected.back() = 0.5F;
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < columns; ++k) {
          dy[i * columns + k] = static_cast<TestType>(1 / static_cast<float>((i * columns + k) % 101 + 3));
          if (indices[i] >= 0 && indices[i] < 19 && indices[i] != 4)
            expected[static_cast<std::size_t>(indices[i]) * columns + k] += static_cast<float>(dy[i * columns + k]);
        }
      const dp::detail::embedding_gradient_kernel<TestType, float, std::int32_t> kernel{
          {indices.data(), dy, sums.data(), count, rows, columns, without, accumulate}};
      CHECK(kernel.blocks() == 3);
      mock::run_kernel(2, kernel, 1);
      CHECK(sums == expected);

      // The rows from the seventh to the twelfth alone.
      mock::device_vector<float> some(6 * columns, 0.5F);
      const dp::detail::embedding_gradient_kernel<TestType, float, std::int32_t> slice{
          {indices.data(), dy, some.data(), count, 6, columns, without, accumulate, 6}};
      mock::run_kernel(1, slice, 1);
      CHECK(std::equal(some.begin(), some.end(), expected.begin() + static_cast<std::ptrdiff_t>(6 * columns)));
    }
}
