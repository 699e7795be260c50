// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <devplace/tensor/split.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

using sizes = std::vector<std::size_t>;

/// Sizes of the parts, computed from their first indices.
template <std::size_t Places, class Split> sizes parts(std::size_t size, const Split& how) {
  const auto begins = dp::detail::divide<Places>(size, how);
  CHECK(begins.front() == 0);
  CHECK(begins.back() == size);
  sizes result;
  for (std::size_t k = 0; k < Places; ++k) result.push_back(begins[k + 1] - begins[k]);
  return result;
}

/// torch.chunk by its documentation, index by index: pieces of ceil(size / n) until nothing is left.
sizes chunks(std::size_t size, std::size_t n) {
  std::size_t most = 0;
  while (most * n < size) ++most;
  sizes result(n, 0);
  for (std::size_t index = 0, piece = 0; index < size; ++index) {
    if (result[piece] == most) ++piece;
    ++result[piece];
  }
  return result;
}

/// Deals out the indices in turns, one per place and round.
sizes dealt(std::size_t size, std::size_t n) {
  sizes result(n, 0);
  for (std::size_t index = 0; index < size; ++index) ++result[index % n];
  return result;
}

template <class F, std::size_t... N> void for_each_count(const F& f, std::index_sequence<N...>) {
  (f(std::integral_constant<std::size_t, N + 1>{}), ...);
}

static_assert(dp::detail::divide<4>(10, dp::split::torch) == std::array<std::size_t, 5>{0, 3, 6, 9, 10});
static_assert(dp::detail::divide<4>(10, dp::split::even) == std::array<std::size_t, 5>{0, 3, 6, 8, 10});
static_assert(dp::detail::divide<3>(7, dp::split::sizes{3, 3, 1}) == std::array<std::size_t, 4>{0, 3, 6, 7});

}  // namespace

TEST_CASE("both rules are correct for all sizes up to 64 and up to 9 places", "[tensor]") {
  for_each_count(
      [](auto places) {
        constexpr std::size_t n = decltype(places)::value;
        for (std::size_t size = 0; size <= 64; ++size) {
          CAPTURE(n, size);
          CHECK(parts<n>(size, dp::split::torch) == chunks(size, n));
          CHECK(parts<n>(size, dp::split::even) == dealt(size, n));
        }
      },
      std::make_index_sequence<9>{});
}

TEST_CASE("the rule torch gives torch.chunk's known results", "[tensor]") {
  CHECK(parts<4>(10, dp::split::torch) == sizes{3, 3, 3, 1});
  CHECK(parts<4>(9, dp::split::torch) == sizes{3, 3, 3, 0});
  CHECK(parts<7>(36, dp::split::torch) == sizes{6, 6, 6, 6, 6, 6, 0});
  CHECK(parts<3>(0, dp::split::torch) == sizes{0, 0, 0});
}

TEST_CASE("sizes near the largest integer do not overflow", "[tensor]") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(parts<2>(most, dp::split::torch) == sizes{most / 2 + 1, most / 2});
  CHECK(parts<2>(most, dp::split::even) == sizes{most / 2 + 1, most / 2});
  CHECK(parts<7>(most, dp::split::torch).back() == most - 6 * (most / 7 + 1));
}

TEST_CASE("given sizes are accepted if they add up", "[tensor]") {
  CHECK(parts<3>(7, dp::split::sizes{3, 3, 1}) == sizes{3, 3, 1});
  CHECK(parts<3>(7, dp::split::sizes{0, 7, 0}) == sizes{0, 7, 0});
  CHECK(parts<2>(5, dp::split::sizes(std::array<std::size_t, 2>{1, 4})) == sizes{1, 4});
  CHECK(parts<2>(0, dp::split::sizes{std::uint8_t{0}, std::int64_t{0}}) == sizes{0, 0});
  CHECK_THROWS_WITH(parts<3>(8, dp::split::sizes{3, 3, 1}),
                    "devplace: split::sizes: 3 + 3 + 1 is not 8, the extent of the axis that is split; give sizes that "
                    "add up to it.");
  CHECK_THROWS_AS(parts<3>(6, dp::split::sizes{3, 3, 1}), dp::argument_error);
  CHECK_THROWS_AS(parts<3>(6, dp::split::sizes{7, 0, 0}), dp::argument_error);
  CHECK_THROWS_WITH((dp::split::sizes{3, -3, 1}), "devplace: split::sizes: -3 is negative; sizes count from 0.");
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(parts<2>(1, dp::split::sizes{most, std::size_t{2}}), dp::argument_error);  // the sum overflows to 1
}
