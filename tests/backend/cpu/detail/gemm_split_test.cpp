// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cpu/detail/gemm_split.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

#include <devplace/base/thread_team.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::detail::gemm_split;
using dp::detail::split_product;

std::size_t parts(const gemm_split& split) { return split.rows * split.columns; }

}  // namespace

TEST_CASE("the grid of a product covers every element of C once", "[backend]") {
  dp::builtin_thread_team team(6);
  const dp::thread_team_scope scope(team);
  for (const std::size_t m : {1U, 7U, 8U, 65U, 300U}) {
    for (const std::size_t n : {1U, 31U, 32U, 100U, 784U}) {
      for (std::size_t members = 1; members <= 6; ++members) {
        const gemm_split split = split_product(m, n, 4096, 8, 32, members, 8);
        CHECK(parts(split) <= members);
        std::vector<int> times(m * n, 0);
        std::mutex mutex;
        dp::detail::for_each_part(m, n, 8, 32, split, [&](const dp::detail::gemm_range& range) {
          const std::lock_guard lock(mutex);
          for (std::size_t i = range.row_begin; i < range.row_end; ++i)
            for (std::size_t j = range.column_begin; j < range.column_end; ++j) ++times[i * n + j];
        });
        CHECK(times == std::vector<int>(m * n, 1));
      }
    }
  }
}

TEST_CASE("the division of small products depends on whether the team is awake", "[backend]") {
  const auto threads = [](std::size_t m, std::size_t n, std::size_t k, bool awake) {
    return parts(split_product(m, n, k, 8, 32, 2, 8, awake));
  };
  // A layer 784 to 256 for one sample: the product and the gradient of its weights read or write 800 KB.
  CHECK(threads(1, 256, 784, false) == 1);
  CHECK(threads(1, 256, 784, true) == 2);
  CHECK(threads(256, 784, 1, false) == 1);
  CHECK(threads(256, 784, 1, true) == 2);
  // Five microseconds of multiplications do not justify a fork, however long the team stays awake.
  CHECK(threads(64, 64, 64, true) == 1);
  CHECK(threads(1, 10, 256, true) == 1);
  CHECK(threads(64, 256, 784, false) == 2);
}

TEST_CASE("the built-in engine divides products of about four microseconds", "[backend]") {
  using dp::detail::builtin_least_work;
  const auto threads = [](std::size_t m, std::size_t n, std::size_t k, std::size_t least_work) {
    return parts(split_product(m, n, k, 8, 32, 2, 8, false, least_work));
  };
  CHECK(threads(64, 64, 64, builtin_least_work<float>) == 2);
  CHECK(threads(32, 64, 64, builtin_least_work<float>) == 1);
  CHECK(threads(32, 64, 64, builtin_least_work<double>) == 2);
  CHECK(threads(16, 64, 64, builtin_least_work<double>) == 1);
}
