// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/spin_wait.hpp>

#include "support/catch.hpp"

using devplace::detail::spin_wait;

namespace {

/// Steps until the wait is exhausted; returns the number of steps, at most 10,000, and counts those that yield.
int exhaust(spin_wait& wait, int& yields) {
  int steps = 0;
  for (; steps != 10000 && !wait.exhausted(); ++steps) {
    yields += wait.yielding() ? 1 : 0;
    wait.step();
  }
  return steps;
}

}  // namespace

TEST_CASE("a wait pauses, then yields, and then is exhausted for good", "[base]") {
  spin_wait wait(false);
  CHECK(!wait.yielding());
  int yields = 0;
  const int steps = exhaust(wait, yields);
  CHECK(steps < 10000);
  CHECK(yields > 0);
  CHECK(yields < steps);
  for (int more = 0; more != 3; ++more) {
    wait.step();
    CHECK(wait.exhausted());
    CHECK(wait.yielding());
  }
}

TEST_CASE("a wait of more threads than processors yields from the first step, as often as any other", "[base]") {
  spin_wait many(true), few(false);
  CHECK(many.yielding());
  CHECK(!many.exhausted());
  int yields = 0, yields_of_few = 0;
  CHECK(exhaust(many, yields) == yields);
  exhaust(few, yields_of_few);
  CHECK(yields == yields_of_few);
}
