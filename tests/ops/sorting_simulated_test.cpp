// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/sorting_device_case.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<1>>;

TEST_CASE("a simulated device sorts, scans and shuffles as the CPU does", "[ops][sort]") {
  dp::test::check_all_sorts<device>();
  dp::test::check_all_sorts_along_axes<device>();
  dp::test::check_all_sums<device>();
  dp::test::check_permutations<device>();
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 0);
}
