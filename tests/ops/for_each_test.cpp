// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <atomic>
#include <cstddef>
#include <vector>

#include <devplace/ops/for_each.hpp>

#include "ops/bias_relu.hpp"
#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// Counts the calls for each index, single or in ranges.
struct count_index {
  std::atomic<int>* counts;
  void operator()(std::size_t i) const { ++counts[i]; }
};
struct count_range {
  std::atomic<int>* counts;
  void operator()(std::size_t) const { FAIL("a functor with range() is asked for ranges on the CPU"); }
  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i != end; ++i) ++counts[i];
  }
};

}  // namespace

TEMPLATE_TEST_CASE("every index is visited once", "[ops]", count_index, count_range) {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 63, 64, 65, 1000, 100003}) {
    for (const std::size_t grain : std::vector<std::size_t>{1, 7, 1024}) {
      std::vector<std::atomic<int>> counts(n + 1);
      dp::detail::for_each_index<dp::backend::cpu>(0, n, grain, TestType{counts.data()});
      std::size_t once = 0;
      for (const auto& count : counts) once += count.load() == 1;
      CHECK(once == n);
      CHECK(counts[n].load() == 0);
    }
  }
}

TEST_CASE("a functor has the same effect in for_each as in a plain loop", "[ops]") {
  ops_test::bias_relu_input x(1000);
  const std::vector<float> expected = x.in_plain_loop();
  dp::detail::for_each_index<dp::backend::cpu>(0, x.values.size(), 16, x.functor(x.values.data(), x.bias.data()));
  CHECK(x.values == expected);
}
