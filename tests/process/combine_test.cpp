// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/process/combine.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/base/error.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace detail = devplace::parallel::detail;

using dp::reduction;

namespace {

template <class T> T reduced(reduction op, const std::vector<T>& values) {
  T result{};
  detail::with_reduction<T>(op, [&]<reduction Op>() {
    result = values[0];
    for (std::size_t k = 1; k != values.size(); ++k) result = detail::combine<T, Op>::both(result, values[k]);
    result = detail::combine<T, Op>::finish(result, static_cast<int>(values.size()));
  });
  return result;
}

}  // namespace

TEST_CASE("sums, means and extrema of several places' elements", "[process]") {
  CHECK(reduced<float>(reduction::sum, {3, -5, 8}) == 6);
  CHECK(reduced<double>(reduction::mean, {3, -5, 8}) == 2);
  CHECK(reduced<float>(reduction::max, {3, 8, -5}) == 8);
  CHECK(reduced<std::int32_t>(reduction::min, {3, -5, 8}) == -5);
  CHECK(reduced<std::uint8_t>(reduction::sum, {200, 100}) == 44);  // modulo 256
}

TEST_CASE("the extremum of places' elements is NaN if one of them is", "[process]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const reduction op : {reduction::max, reduction::min}) {
    CHECK(std::isnan(reduced<float>(op, {nan, 1})));
    CHECK(std::isnan(reduced<float>(op, {1, nan})));
    CHECK(std::isnan(reduced<float>(op, {1, nan, 2})));
  }
}

TEST_CASE("a mean of integers is rejected", "[process]") {
  CHECK_THROWS_AS(detail::check_reduction<std::int64_t>(reduction::mean), dp::argument_error);
  for (const reduction op : {reduction::sum, reduction::max, reduction::min})
    CHECK_NOTHROW(detail::check_reduction<std::int64_t>(op));
  CHECK_NOTHROW(detail::check_reduction<float>(reduction::mean));
}
