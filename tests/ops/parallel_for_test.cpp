// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/parallel_for.hpp>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/item.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;

TEST_CASE("parallel_for calls the functor once for each index, in extents of any rank", "[ops]") {
  for (const int threads : {1, 4}) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    std::vector<std::atomic<int>> counts(2 * 3 * 50);
    std::atomic<int>* const count = counts.data();
    dp::parallel_for(
        dp::cpu{}, dp::extents<2, 3, 50>{},
        [count](std::size_t i, std::size_t j, std::size_t k) { ++count[(i * 3 + j) * 50 + k]; }, 7);
    std::size_t once = 0;
    for (const auto& each : counts) once += each.load() == 1;
    CHECK(once == counts.size());
  }
}

TEST_CASE("parallel_for over one axis, no axes, and no indices", "[ops]") {
  auto x = dp::zeros<float, dp::cpu>(5);
  float* const to = x.data();
  dp::parallel_for(x, x.extents(), [to](std::size_t i) { to[i] = static_cast<float>(i); });
  CHECK(support::values_of(x) == std::vector<float>{0, 1, 2, 3, 4});
  dp::parallel_for(dp::cpu{}, dp::extents<>{}, [to] { to[4] = 9; });
  CHECK(x(4) == 9);
  dp::parallel_for(dp::cpu{}, dp::dextents<2>{0, 3}, [to](std::size_t, std::size_t) { to[0] = 7; });
  dp::parallel_for(dp::cpu{}, dp::dextents<2>{3, 0}, [to](std::size_t, std::size_t) { to[0] = 7; });
  CHECK(x(0) == 0);
}

TEST_CASE("an exception of a functor is rethrown", "[ops]") {
  const auto fail = [](std::size_t i) {
    if (i == 3) throw std::runtime_error("index 3");
  };
  CHECK_THROWS_WITH(dp::parallel_for(dp::cpu{}, dp::extents<8>{}, fail), "index 3");
}

TEST_CASE("parallel_reduce adds and compares the values of a functor", "[ops]") {
  const auto product = [](std::size_t i, std::size_t j) { return static_cast<std::int64_t>((i + 1) * (j + 2)); };
  const dp::extents<30, 40> extents;
  CHECK(dp::item(dp::parallel_reduce(dp::cpu{}, extents, product)) == 30 * 31 / 2 * (41 * 42 / 2 - 1));
  CHECK(dp::item(dp::parallel_reduce<dp::reduction::max>(dp::cpu{}, extents, product)) == 30 * 41);
  CHECK(dp::item(dp::parallel_reduce<dp::reduction::min>(dp::cpu{}, extents, product)) == 2);
  const auto half = [](std::size_t i) { return static_cast<double>(i) / 2; };
  CHECK(dp::item(dp::parallel_reduce<dp::reduction::mean>(dp::cpu{}, dp::extents<5>{}, half)) == 1);
  const auto nan_at_7 = [](std::size_t i) { return i == 7 ? std::numeric_limits<float>::quiet_NaN() : 1.0F; };
  CHECK(std::isnan(dp::item(dp::parallel_reduce<dp::reduction::max>(dp::cpu{}, dp::extents<9>{}, nan_at_7))));
  CHECK(dp::item(dp::parallel_reduce(dp::cpu{}, dp::dextents<1>{0}, nan_at_7)) == 0);
}

TEST_CASE("the bits of parallel_reduce do not depend on the number of threads", "[ops]") {
  const auto wave = [](std::size_t i, std::size_t j) { return std::sin(static_cast<double>(i * 1000 + j)); };
  std::vector<double> sums;
  double expected = 0;
  for (std::size_t i = 0; i < 300; ++i)
    for (std::size_t j = 0; j < 1000; ++j) expected += wave(i, j);
  for (const int threads : {1, 2, 3}) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    sums.push_back(dp::item(dp::parallel_reduce(dp::cpu{}, dp::extents<300, 1000>{}, wave)));
  }
  CHECK(sums[1] == sums[0]);
  CHECK(sums[2] == sums[0]);
  CHECK(std::abs(sums[0] - expected) < 1e-9);
}

TEST_CASE("parallel_reduce_into writes one element", "[ops]") {
  auto x = dp::zeros<float, dp::cpu>(2);
  const auto one = [](std::size_t) { return 1.0F; };
  dp::parallel_reduce_into(x.view().slice(1, 2), dp::extents<5>{}, one);
  CHECK(support::values_of(x) == std::vector<float>{0, 5});
  CHECK_THROWS_AS(dp::parallel_reduce_into(x, dp::extents<5>{}, one), dp::shape_error);
}
