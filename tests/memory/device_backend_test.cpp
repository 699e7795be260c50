// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/memory/device_backend.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// A backend with memory but without devices, streams and events.
struct memory_alone {};

}  // namespace

template <>
struct devplace::implementation<memory_alone, devplace::op::memory>
    : devplace::implementation<devplace::backend::cpu, devplace::op::memory> {};

TEST_CASE("the CPU is a device backend; pinned memory and a backend without streams are not", "[memory]") {
  STATIC_REQUIRE(dp::device_backend<dp::backend::cpu>);
  STATIC_REQUIRE_FALSE(dp::device_backend<dp::backend::pinned>);
  STATIC_REQUIRE_FALSE(dp::device_backend<dp::backend::cuda>);  // no component is linked
  STATIC_REQUIRE_FALSE(dp::device_backend<memory_alone>);
}
