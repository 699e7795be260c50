// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/take_rows.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

template <class T, class Index> auto kernel_of(const dp::detail::row_taker<T, Index>& take) {
  return dp::detail::make_kernel(take.count * take.columns, take);
}

}  // namespace

TEST_CASE("the kernel of take_rows copies rows, 16 bytes at once where it can", "[cuda]") {
  mock::device_vector<float> from(801), to(801);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const mock::device_vector<std::int64_t> indices{4, 0, 4, 6, 1};
  for (const std::size_t columns : {1u, 3u, 4u, 100u})
    for (const std::size_t first : {0u, 1u}) {
      INFO(columns << " columns, offset " << first);
      to.assign(801, -1);
      const auto kernel = kernel_of(dp::detail::row_taker<float, std::int64_t>{from.data() + first, indices.data(),
                                                                               to.data(), 7, indices.size(), columns});
      CHECK((kernel.groups != 0) == (columns % 4 == 0 && first == 0));
      mock::run_kernel(2, kernel, 1);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const float expected =
            i < indices.size() * columns
                ? static_cast<float>(static_cast<std::size_t>(indices[i / columns]) * columns + i % columns + first)
                : -1.0F;
        REQUIRE(to[i] == expected);
      }
    }
}

TEST_CASE("the kernel of take_rows leaves rows alone whose sources lie elsewhere", "[cuda]") {
  mock::device_vector<float> from(28);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const mock::device_vector<std::int64_t> indices{4, 0, 7, 6, 2, 5};
  for (const std::size_t columns : {3u, 4u}) {
    mock::device_vector<float> to(24, -1);
    mock::run_kernel(1,
                     kernel_of(dp::detail::row_taker<float, std::int64_t>{from.data(), indices.data(), to.data(), 7,
                                                                          indices.size(), columns, 2, 3}),
                     1);
    for (std::size_t i = 0; i < indices.size() * columns; ++i) {
      const auto row = static_cast<std::size_t>(indices[i / columns]);
      INFO("row " << row << " of 7, with rows 2 to 4 there");
      if (row >= 7)
        CHECK(std::isnan(to[i]));
      else
        CHECK(to[i] == (row >= 2 && row < 5 ? from[row * columns + i % columns] : -1));
    }
  }
}

TEST_CASE("rows out of range become NaN or the lowest number", "[cuda]") {
  const mock::device_vector<std::int32_t> indices{2, -1, 1, std::numeric_limits<std::int32_t>::min()};
  for (const std::size_t columns : {3u, 4u}) {
    const mock::device_vector<double> from{1, 2, 3, 4, 5, 6, 7, 8};
    mock::device_vector<double> to(16);
    mock::run_kernel(
        1,
        kernel_of(dp::detail::row_taker<double, std::int32_t>{from.data(), indices.data(), to.data(), 2, 4, columns}),
        1);
    for (std::size_t k = 0; k < columns; ++k) {
      CHECK(std::isnan(to[k]));
      CHECK(std::isnan(to[columns + k]));
      CHECK(to[2 * columns + k] == from[columns + k]);
      CHECK(std::isnan(to[3 * columns + k]));
    }
  }
  const mock::device_vector<std::int32_t> whole{5}, beyond{1};
  mock::device_vector<std::int32_t> taken(1);
  mock::run_kernel(
      1,
      kernel_of(dp::detail::row_taker<std::int32_t, std::int32_t>{whole.data(), beyond.data(), taken.data(), 1, 1, 1}),
      1);
  CHECK(taken[0] == std::numeric_limits<std::int32_t>::min());
}
