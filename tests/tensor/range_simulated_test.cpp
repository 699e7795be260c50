// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/tensor.hpp>

#include <algorithm>
#include <ranges>
#include <span>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

template <class Where> using matrix = dp::tensor<float, dp::extents<6, 4>, Where>;
using device = dp::on<dp::cuda<0>>;

// Concepts of the standard library see no range, without an error.
static_assert(!std::ranges::range<matrix<device>> && !std::ranges::range<const matrix<device>>);
static_assert(!std::ranges::range<matrix<device>::view_type>);
static_assert(!std::ranges::range<matrix<dp::replicated<0, 1>>> &&
              !std::ranges::range<matrix<dp::sharded<dp::axis<0>, 0, 1>>>);
static_assert(!std::is_constructible_v<std::span<const float>, const matrix<device>&>);
static_assert(std::ranges::contiguous_range<matrix<dp::pinned>>);

}  // namespace

TEST_CASE("rows loops on devices, where elements are no range", "[tensor][range]") {
  const auto host = dp::arange<float, dp::cpu>(24).reshape(dp::extents<6, 4>{});
  auto x = dp::to<device>(host);
  for (auto row : dp::rows(x)) row = row + 1.0f;
  const auto result = dp::to<dp::cpu>(x);
  CHECK(std::ranges::equal(result, host, [](float y, float before) { return y == before + 1; }));
}
