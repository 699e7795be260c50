// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/availability.hpp>

#include "ops/rearrange_case.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

TEST_CASE("a GPU moves, joins and chooses elements as the CPU does", "[ops]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  dp::test::test_rearrangements<float, device>();
  dp::test::test_parts_of_matrices<double, device>();
  dp::test::test_reversed_views<float, device>();
}
