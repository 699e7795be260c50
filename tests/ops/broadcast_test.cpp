// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/broadcast_case.hpp"

#include <cstddef>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/assign_body.hpp>
#include <devplace/tensor/half.hpp>

#include "support/sanitizers.hpp"

namespace dp = devplace;

TEMPLATE_TEST_CASE("operands may be repeated along any axes, into any view", "[ops][elementwise]", float, dp::half) {
  broadcast_case::check<broadcast_case::host, TestType>(support::sanitized ? 40 : 150);
  dp::builtin_thread_team team(3);
  const dp::thread_team_scope scope(team);
  broadcast_case::check<broadcast_case::host, TestType>(support::sanitized ? 10 : 30);
}

TEST_CASE("an operand with one number per plane is read once per block of the plane", "[ops]") {
  using namespace dp::detail;
  const float channels[] = {2, 3};
  gathered_block buffers[1];
  const auto leaf_at = [&](const position<3>& start, std::ptrdiff_t count) {
    gathered_block* next = buffers;
    return leaf_of_block<3>{{}, start, 1, count, next}(strided_leaf<float, 3>{channels, {0, 1, 0}});
  };
  const auto leaf = leaf_at({{0, 1, 0}}, 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(leaf.at(i) == 3);
  const_cast<float*>(leaf.data)[0] = 5;          // a mark that remains while the block is not gathered again
  CHECK(leaf_at({{7, 1, 100}}, 60).at(0) == 5);  // of this plane's channel
  CHECK(leaf_at({{7, 0, 0}}, 60).at(59) == 2);   // of another channel
  CHECK(leaf_at({{7, 0, 0}}, 61).at(60) == 2);   // a longer block than the previous one
}
