// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/parallel/all_reduce.hpp>

#include "parallel/meshes.hpp"
#include "parallel/summands.hpp"
#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using dp::reduction;
using support::random_summands;
using support::values_of;

namespace {

template <class Where, class T> void check(std::size_t size, bool whole_numbers) {
  auto x = random_summands<Where, T>(dp::extents<dyn>(size), whole_numbers);
  const auto before = values_of(x.summands.only_on(0));
  const auto reduced = dp::all_reduce(x.summands);
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) {
    CHECK(values_of(reduced.local(k)) == x.value);
    CHECK(reduced.local(k).ordinal() == x.summands.only_on(k).ordinal());
  }
  CHECK(values_of(x.summands.only_on(0)) == before);
  const auto* const memory = x.summands.only_on(0).data();
  const auto in_place = dp::all_reduce(std::move(x.summands));
  CHECK(in_place.local(0).data() == memory);
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) CHECK(values_of(in_place.local(k)) == x.value);
}

template <class T> void check_sizes(auto mesh) {
  using where = typename decltype(mesh)::template partial<reduction::sum>;
  constexpr std::size_t n = dp::local_place_count<where>;
  for (const std::size_t size : std::vector<std::size_t>{0, 1, n - 1, n, 100}) {
    CAPTURE(n, size);
    check<where, T>(size, true);
  }
}

}  // namespace

TEST_CASE("all_reduce gives every place the exact sum of integers, for up to nine places", "[parallel]") {
  support::for_up_to_9_devices([](auto mesh) { check_sizes<float>(mesh); });
  support::for_devices<3>([](auto mesh) {
    check_sizes<std::int32_t>(mesh);
    check_sizes<std::int64_t>(mesh);
  });
}

TEST_CASE("all_reduce adds in the order of the places, bitwise", "[parallel]") {
  check<dp::partial<reduction::sum, 2, 0, 3, 1>, float>(40001, false);
  check<dp::partial<reduction::sum, 8, 4, 2>, double>(1023, false);
  check<dp::partial<reduction::mean, 2, 0, 1>, float>(1000, false);
  check<dp::partial<reduction::mean, 8, 4, 2>, double>(77, false);
}

TEST_CASE("all_reduce computes the maximum and the minimum", "[parallel]") {
  check<dp::partial<reduction::max, 2, 0>, float>(1000, false);
  check<dp::partial<reduction::min, 0, 3, 1>, double>(1000, false);
  check<dp::partial<reduction::max, 0, 1, 2, 3, 4>, std::int32_t>(100, true);
  check<dp::partial<reduction::min, 0, 1>, std::int64_t>(100, true);
}

TEST_CASE("NaN in one operand is NaN in the maximum, the minimum and the sum", "[parallel]") {
  const auto check_nan = [](auto where, std::size_t at) {
    dp::tensor<float, dp::extents<2>, decltype(where)> x(dp::extents<2>{});
    for (std::size_t k = 0; k < 3; ++k) {
      dp::tensor<float, dp::extents<2>, dp::on<dp::cpu>> summand{1, 2};
      if (k == at) summand(0) = std::numeric_limits<float>::quiet_NaN();
      dp::copy(x.only_on(k), summand);
    }
    const auto sum = dp::all_reduce(x);
    const auto values = values_of(sum.local(2));
    CHECK(std::isnan(values[0]));
    CHECK(std::isfinite(values[1]));
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    check_nan(dp::partial<reduction::max, 0, 1, 2>{}, at);
    check_nan(dp::partial<reduction::min, 0, 1, 2>{}, at);
    check_nan(dp::partial<reduction::sum, 0, 1, 2>{}, at);
  }
}

TEST_CASE("all_reduce in place allocates nothing", "[parallel]") {
  auto x = random_summands<dp::partial<reduction::sum, 0, 1>, float>(dp::extents<5, 3>{}, true);
  const auto counted = [] {
    return dp::memory_statistics<dp::cuda<0>>().allocations + dp::memory_statistics<dp::cuda<1>>().allocations;
  };
  const auto before = counted();
  const auto reduced = dp::all_reduce(std::move(x.summands));
  CHECK(counted() == before);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(reduced)>,
                               dp::tensor<float, dp::extents<5, 3>, dp::replicated<0, 1>>>);
  CHECK(values_of(reduced.local(1)) == x.value);
}
