// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <limits>

#include <devplace/tensor/detail/leading_extent.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::dyn;

TEST_CASE("a tensor's number of rows can shrink, and grow to the original again, in the same memory", "[tensor]") {
  dp::tensor<float, dp::extents<dyn, 3>, dp::on<dp::cpu>> x(dp::extents<dyn, 3>(4));
  for (std::size_t i = 0; i < 12; ++i) x.data()[i] = static_cast<float>(i);
  const float* const data = x.data();
  const auto allocations = dp::memory_statistics<dp::cpu>().allocations;
  for (const std::size_t rows : {3u, 0u, 4u}) {
    dp::detail::leading_extent::set(x, rows);
    CHECK(x.extents() == dp::extents<dyn, 3>(rows));
    CHECK(x.size() == 3 * rows);
    CHECK(x.data() == data);
  }
  CHECK(x(3, 2) == 11);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == allocations);
}

TEST_CASE("too many rows are rejected without changes", "[tensor]") {
  dp::tensor<std::int64_t, dp::extents<dyn>, dp::on<dp::cpu>> x(dp::extents<dyn>(5));
  CHECK_THROWS_AS(dp::detail::leading_extent::set(x, 6), dp::shape_error);
  CHECK_THROWS_AS(dp::detail::leading_extent::set(x, std::numeric_limits<std::size_t>::max()), dp::shape_error);
  CHECK_THROWS_WITH(dp::detail::leading_extent::set(x, 6),
                    Catch::Matchers::ContainsSubstring("6 rows do not fit into the memory of a tensor that is now 5"));
  CHECK(x.extent(0) == 5);

  dp::tensor<float, dp::extents<dyn, 4>, dp::on<dp::cpu>> rows_of_four(dp::extents<dyn, 4>(5));
  const std::size_t wraps_around = std::size_t{1} << 62;
  CHECK_THROWS_AS(dp::detail::leading_extent::set(rows_of_four, wraps_around), dp::shape_error);
}

TEST_CASE("a tensor split over places is split again", "[tensor]") {
  dp::tensor<float, dp::extents<dyn, 2>, dp::sharded_on<dp::axis<0>, dp::cpu>> x(dp::extents<dyn, 2>(6));
  dp::detail::leading_extent::set(x, 4);
  CHECK(x.local(0).extents() == dp::extents<dyn, 2>(4));
  CHECK_THROWS_AS(dp::detail::leading_extent::set(x, 7), dp::shape_error);
  CHECK(x.extent(0) == 4);
}
