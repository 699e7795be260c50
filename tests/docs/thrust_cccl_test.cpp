// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/cuda.md about Thrust on the CPU.
#include <devplace/core.hpp>

#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;

TEST_CASE("docs: algorithms of Thrust on the CPU", "[docs]") {
  dp::tensor<float, dp::extents<2, 3>, dp::cpu> x{{3, 1, 2}, {6, 5, 4}};
  auto row = x[1];
  auto column = x.select(dp::axis<1>{}, 0);
  thrust::sort(thrust::host, row.begin(), row.end());
  const float sum = thrust::reduce(thrust::host, column.begin(), column.end());
  CHECK(support::values_of(x) == std::vector<float>{3, 1, 2, 4, 5, 6});
  CHECK(sum == 7);
}
