// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/take_rows.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

TEST_CASE("the kernel of take_rows copies rows, 16 bytes at once where it can", "[cuda]") {
  alignas(16) std::array<float, 801> from{}, to{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const std::vector<std::int64_t> indices{4, 0, 4, 6, 1};
  for (const std::size_t columns : {1u, 3u, 4u, 100u})
    for (const std::size_t first : {0u, 1u}) {
      INFO(columns << " columns, offset " << first);
      to.fill(-1);
      const auto kernel = dp::detail::make_take_rows_kernel(dp::detail::row_taker<float, std::int64_t>{
          from.data() + first, indices.data(), to.data(), 7, indices.size(), columns});
      CHECK((kernel.groups != 0) == (columns % 4 == 0 && first == 0));
      simt::launch(2, kernel, 1);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const float expected =
            i < indices.size() * columns
                ? static_cast<float>(static_cast<std::size_t>(indices[i / columns]) * columns + i % columns + first)
                : -1.0F;
        REQUIRE(to[i] == expected);
      }
    }
}

TEST_CASE("rows out of range become NaN or the lowest number", "[cuda]") {
  const std::vector<std::int32_t> indices{2, -1, 1, std::numeric_limits<std::int32_t>::min()};
  for (const std::size_t columns : {3u, 4u}) {
    alignas(16) std::array<double, 8> from{1, 2, 3, 4, 5, 6, 7, 8};
    alignas(16) std::array<double, 16> to{};
    simt::launch(1,
                 dp::detail::make_take_rows_kernel(dp::detail::row_taker<double, std::int32_t>{
                     from.data(), indices.data(), to.data(), 2, 4, columns}),
                 1);
    for (std::size_t k = 0; k < columns; ++k) {
      CHECK(std::isnan(to[k]));
      CHECK(std::isnan(to[columns + k]));
      CHECK(to[2 * columns + k] == from[columns + k]);
      CHECK(std::isnan(to[3 * columns + k]));
    }
  }
  const std::vector<std::int32_t> whole{5};
  std::int32_t taken = 0;
  const std::int32_t beyond = 1;
  simt::launch(1,
               dp::detail::make_take_rows_kernel(
                   dp::detail::row_taker<std::int32_t, std::int32_t>{whole.data(), &beyond, &taken, 1, 1, 1}),
               1);
  CHECK(taken == std::numeric_limits<std::int32_t>::min());
}
