// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/take_rows.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using gpu = dp::on<dp::cuda<0>>;

TEST_CASE("take_rows on a GPU, and NaN for rows that do not exist", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const std::vector<std::int64_t> chosen{4, -1, 0, 5, 4};
  for (const std::size_t columns : {3u, 8u}) {
    const auto x = support::counted<float>(dp::dextents<2>{5, columns});
    const auto y = dp::take_rows(dp::to<gpu>(x), dp::to<gpu>(dp::wrap(chosen, dp::extents<5>{})));
    const auto values = support::values_of(y);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t row = chosen[i / columns];
      INFO(columns << " columns, element " << i);
      if (row < 0 || row > 4)
        CHECK(std::isnan(values[i]));
      else
        CHECK(values[i] == x.data()[static_cast<std::size_t>(row) * columns + i % columns]);
    }
  }
}
