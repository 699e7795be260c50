// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <utility>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/attention.hpp>

#include "support/attention_loops.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using dp::test::attention_loops;

namespace {

template <class T> dp::test::attention_results<T> attend_on_cpu(const attention_loops& with) {
  dp::test::attention_results<T> found(with);
  dp::implementation<dp::backend::cpu, dp::op::attention>::run(0, found.forward, 0);
  dp::implementation<dp::backend::cpu, dp::op::attention_gradient>::run(0, found.backward, 0);
  return found;
}

}  // namespace

TEST_CASE("attention in blocks agrees with whole matrices of probabilities", "[ops]") {
  for (const std::size_t length : {1u, 5u, 64u, 65u, 130u})
    for (const bool causal : {false, true})
      for (const double probability : {0.0, 0.25}) {
        if (support::sanitized && causal == (probability != 0)) continue;  // each of both options, alone
        INFO("length " << length << ", causal " << causal << ", dropout " << probability);
        const attention_loops loops({2, length, 3, 5 + length % 3 * 8, causal}, probability);
        attend_on_cpu<float>(loops).require_agreement(loops, 1e-5);
        if constexpr (!support::sanitized) attend_on_cpu<double>(loops).require_agreement(loops, 1e-12);
      }
}

TEST_CASE("attention's bits do not depend on the number of threads", "[ops]") {
  const attention_loops loops({3, 150, 2, 16, true}, 0.1);
  const auto with_threads = [&](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    const auto found = attend_on_cpu<float>(loops);
    return std::pair(found.results, found.dqueries);
  };
  const auto alone = with_threads(1);
  CHECK(with_threads(2) == alone);
  CHECK(with_threads(5) == alone);
}

TEST_CASE("attention drops the given share of probabilities", "[ops]") {
  // All scores are equal and all values are 1, so a result is the kept share times the factor.
  const dp::detail::attention_shape shape{4, 128, 2, 1, false};
  attention_loops loops(shape, 0.25);
  for (double& x : loops.queries) x = 0;
  for (std::size_t sample = 0; sample < 4; ++sample)
    for (std::size_t position = 0; position < 128; ++position)
      for (std::size_t head = 0; head < 2; ++head) loops.queries[loops.at(sample, position, 2, head, 0)] = 1;
  const auto found = attend_on_cpu<double>(loops);
  double sum = 0, least = 2, most = 0;
  for (std::size_t i = 0; i + 1 < found.results.size(); ++i) {
    sum += found.results[i];
    least = std::min(least, found.results[i]);
    most = std::max(most, found.results[i]);
  }
  // 2^17 draws: the standard deviation is 0.0016 for the mean, and 0.051 for a result of 128 draws.
  CHECK(std::abs(sum / 1024 - 1) < 0.008);
  CHECK(least > 0.7);
  CHECK(least < 0.9);
  CHECK(most > 1.1);
  CHECK(most < 1.3);
}

TEST_CASE("NaN in one sample of attention stays in it", "[ops]") {
  attention_loops loops({2, 70, 1, 4, false}, 0);
  loops.queries[loops.at(1, 3, 1, 0, 0)] = std::nan("");
  const auto found = attend_on_cpu<float>(loops);
  for (std::size_t i = 0; i < 280; ++i) {
    CHECK(!std::isnan(found.results[i]));
    CHECK(std::isnan(found.results[280 + i]));
  }
}
