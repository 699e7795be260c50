// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>

#include <devplace/place/backend.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct add_one {};

}  // namespace

template <> struct devplace::implementation<dp::backend::cpu, add_one> {
  static void run(int ordinal, int* x) { *x += 1 + ordinal; }
};

TEST_CASE("dispatch calls the backend's implementation with the ordinal as a value", "[place]") {
  int x = 1;
  dp::detail::dispatch<add_one, dp::backend::cpu>(0, &x);
  CHECK(x == 2);
  dp::detail::dispatch<add_one, dp::backend::cpu>(5, &x);
  CHECK(x == 8);
}
