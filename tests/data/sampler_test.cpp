// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include <devplace/data/sampler.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

std::vector<std::int64_t> order(std::size_t samples, std::optional<dp::seed> shuffle, int epoch) {
  dp::sampler s(samples, shuffle);
  const auto view = s.order(epoch);
  return {view.begin(), view.end()};
}

std::vector<std::int64_t> counted(std::size_t samples) {
  std::vector<std::int64_t> numbers(samples);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TEST_CASE("without a seed samples come in the order of the data", "[data]") {
  for (const int epoch : {0, 1, 7}) CHECK(order(5, {}, epoch) == counted(5));
}

TEST_CASE("a shuffled epoch visits every sample once", "[data]") {
  for (const std::size_t samples : {0u, 1u, 2u, 3u, 64u, 1000u}) {
    auto visited = order(samples, dp::seed{3}, 4);
    std::sort(visited.begin(), visited.end());
    CHECK(visited == counted(samples));
  }
}

TEST_CASE("the order depends on the seed and the epoch, not on epochs read before", "[data]") {
  dp::sampler s(1000, dp::seed{2});
  const auto first = s.order(0);
  const std::vector<std::int64_t> zero(first.begin(), first.end());
  const auto second = s.order(1);
  const std::vector<std::int64_t> one(second.begin(), second.end());
  CHECK(zero != one);
  CHECK(zero == order(1000, dp::seed{2}, 0));
  CHECK(one == order(1000, dp::seed{2}, 1));
  CHECK(zero != order(1000, dp::seed{1}, 0));
  CHECK(zero != counted(1000));
  CHECK_NOTHROW(s.order(std::numeric_limits<int>::max()));
}

TEST_CASE("all orders of a few samples are equally frequent", "[data]") {
  constexpr int epochs = 24000;
  std::map<std::vector<std::int64_t>, int> seen;
  dp::sampler s(4, dp::seed{11});
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto view = s.order(epoch);
    ++seen[{view.begin(), view.end()}];
  }
  REQUIRE(seen.size() == 24);
  double chi_squared = 0;
  for (const auto& [one, count] : seen)
    chi_squared += (count - epochs / 24.0) * (count - epochs / 24.0) / (epochs / 24.0);
  CHECK(chi_squared < 49.7);  // 23 degrees of freedom: exceeded with probability 0.001
}

TEST_CASE("a negative epoch is rejected", "[data]") {
  dp::sampler s(4);
  CHECK_THROWS_AS(s.order(-1), dp::argument_error);
  CHECK_THROWS_WITH(s.order(-1), "devplace: epoch -1 was asked for; epochs count from 0.");
}
