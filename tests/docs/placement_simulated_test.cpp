// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/placement.md quotes.

#include <cstddef>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/all.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("docs/placement.md: tensors", "[docs]") {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> a{{1, 2, 3}, {4, 5, 6}};
  auto b = dp::to<dp::on<dp::cuda<0>>>(a);   // a new tensor on the GPU
  dp::tensor c = b + 2.0f * b;               // computed there, in one pass
  auto result = dp::to<dp::on<dp::cpu>>(c);  // waits for it
  result(1, 2) = 7;                          // element access, if the host can access the memory
  dp::copy(b, result);                       // into an existing tensor
  const float sum = dp::item(dp::sum(b));    // reads one number back
  CHECK(sum == 52);
}

TEST_CASE("docs/placement.md: creation", "[docs]") {
  const int n = 4;
  auto zeros = dp::zeros<float, dp::cpu>(3, n);
  auto halves = dp::full<float, dp::cpu>(dp::extents{3, n}, 0.5f);
  auto three_rows = dp::zeros<float, dp::cpu>(dp::extents<3, dp::dyn>{n});                   // 3 is in the type
  auto between = dp::uniform<float, dp::cpu>(dp::extents{3, n}, dp::seed{1}, -1.0f, 1.0f);   // 0 to 1 by default
  auto gaussian = dp::normal<float, dp::cpu>(dp::extents<2, 3>{}, dp::seed{1}, 0.0f, 0.1f);  // mean and deviation
  auto counted = dp::arange<float, dp::cpu>(10);                                             // 0 to 9
  CHECK(zeros(2, 3) == 0);
  CHECK(halves(2, 3) == 0.5F);
  STATIC_REQUIRE(std::is_same_v<decltype(three_rows)::extents_type, dp::extents<3, dp::dyn>>);
  CHECK(between.extent(1) == 4);
  CHECK(gaussian.size() == 6);
  CHECK(counted(9) == 9);
  STATIC_REQUIRE(dp::is_on<decltype(counted), dp::cpu> && !dp::is_on<decltype(counted), dp::cuda<0>>);
}

TEST_CASE("docs/placement.md: several devices", "[docs]") {
  const dp::tensor x = dp::arange<float, dp::on<dp::cpu>>(10);
  auto parts = dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(x);  // elements 0 to 4 on cuda<0>, 5 to 9 on cuda<1>
  auto whole = dp::gather<dp::on<dp::cpu>>(parts);
  auto chunks = dp::scatter<dp::sharded<dp::axis<0>, 0, 1, 2>>(x, dp::split::torch);        // 4, 4 and 2 elements
  auto given = dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(x, dp::split::sizes{3, 7});      // 3 and 7 elements
  auto same = dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(x.clone(), given.split_sizes());  // split as `given` is
  CHECK(parts.first_row(1) == 5);
  CHECK(whole(7) == 7);
  CHECK(chunks.first_row(2) == 8);
  CHECK(same.first_row(1) == 3);
  dp::tensor<float, dp::extents<10>, dp::partial<dp::reduction::sum, 0, 1>> summands{dp::extents<10>{}};
  dp::copy(summands.only_on(dp::cuda<0>{}), x);
  dp::copy(summands.only_on(dp::cuda<1>{}), x);
  const auto total = dp::all_reduce(std::move(summands));  // 2 x on both, in the summands' memory
  const auto on_host = dp::to<dp::on<dp::cpu>>(total.local(dp::cuda<1>{}));
  CHECK(on_host(9) == 18);
}

TEST_CASE("docs/placement.md: the choice at run time", "[docs]") {
  const auto run = [](auto where) { return dp::placement_name<decltype(where)>(); };
  const std::string first = dp::first_available<dp::replicated<0, 1>, dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(run);
  const std::string named = dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>>("cuda:0", run);
  CHECK(first == "replicated<cuda:0, cuda:1>");
  CHECK(named == "cuda:0");
}

TEST_CASE("docs/placement.md: memory", "[docs]") {
  const dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{1, 2, 3};
  const dp::memory_usage usage = dp::memory_statistics<dp::cuda<0>>();
  const std::size_t parameters = usage.of(dp::memory_purpose::parameters);
  std::cout << usage << '\n' << dp::memory_table();  // one line for the place, and a table of all of them
  dp::trim_memory<dp::cuda<0>>();                    // frees cached memory
  CHECK(parameters == 0);
  CHECK(usage.of(dp::memory_purpose::tensors) >= 12);
}
