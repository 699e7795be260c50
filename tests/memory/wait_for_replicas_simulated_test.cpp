// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <string>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/ops/for_each.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct fail {
  int code;
  DEVPLACE_HD void operator()(std::size_t) const { throw dp::argument_error("failure " + std::to_string(code) + "."); }
};

void fail_on(int ordinal) { dp::detail::for_each_index<dp::backend::cuda>(ordinal, 1, 1, fail{ordinal}); }

void wait(const std::array<int, 3>& ordinals) { dp::detail::wait_for_replicas<dp::backend::cuda>(ordinals); }

}  // namespace

TEST_CASE("waiting for replicas throws the first failure in replica order and clears all failures", "[memory]") {
  CHECK_NOTHROW(wait({2, 0, 1}));
  fail_on(1);
  fail_on(0);
  CHECK_THROWS_WITH(wait({2, 0, 1}), Catch::Matchers::Equals("devplace: replica 1 of 3 (cuda:0): failure 0."));
  CHECK_NOTHROW(wait({2, 0, 1}));
  fail_on(1);
  CHECK_THROWS_AS(wait({1, 0, 2}), dp::argument_error);
}

TEST_CASE("waiting for a single place throws its failure unchanged", "[memory]") {
  fail_on(3);
  const std::array one{3};
  CHECK_THROWS_WITH((dp::detail::wait_for_replicas<dp::backend::cuda>(one)),
                    Catch::Matchers::Equals("devplace: failure 3."));
}

TEST_CASE("a propagated failure is attributed to the replica where it began", "[memory]") {
  dp::event<dp::cuda<1>> event;
  fail_on(1);
  event.record();
  event.before<dp::cuda<0>>();
  event.before<dp::cuda<2>>();
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<1>>(), dp::argument_error);  // cleared there, but not on other devices
  CHECK_THROWS_WITH(wait({2, 0, 1}), Catch::Matchers::Equals("devplace: replica 2 of 3 (cuda:1): failure 1."));
  CHECK_NOTHROW(wait({2, 0, 1}));
  // A failure of a device that holds no replica is attributed to the first replica that it reached.
  fail_on(1);
  event.record();
  event.before<dp::cuda<0>>();
  CHECK_THROWS_WITH(wait({2, 0, 3}), Catch::Matchers::Equals("devplace: replica 1 of 3 (cuda:0): failure 1."));
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<1>>(), dp::argument_error);
}
