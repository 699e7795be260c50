// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/availability.hpp>

#include "ops/sorting_device_case.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

TEST_CASE("a GPU sorts, scans and shuffles as the CPU does", "[ops][sort]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  dp::test::check_all_sorts<device>();
  dp::test::check_sorts<device, float>(2000, 1000);
  dp::test::check_all_sums<device>();
  dp::test::check_sums<device, float>(1000000);
  dp::test::check_sums<device, std::uint8_t>(1000000);
  dp::test::check_permutations<device>();
}
