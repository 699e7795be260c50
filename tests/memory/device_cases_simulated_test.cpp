// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cases that tests of memory share between backends (*_case.hpp), on simulated devices.

#include <devplace/memory/device_backend.hpp>

#include "memory/device_statistics_case.hpp"
#include "memory/pinned_case.hpp"
#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("the simulated backend is a device backend", "[memory]") {
  STATIC_REQUIRE(dp::device_backend<dp::backend::cuda>);
}
