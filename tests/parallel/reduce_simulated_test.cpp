// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/parallel/reduce.hpp>
#include <devplace/parallel/reduce_scatter.hpp>

#include "parallel/meshes.hpp"
#include "parallel/summands.hpp"
#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using dp::reduction;
using support::part_of;
using support::random_summands;
using support::values_of;

namespace {

template <class To, class Where, reduction Op, class T>
void check_reduce(std::size_t size, bool whole_numbers) {
  auto x = random_summands<Where, Op, T>(dp::extents<dyn>(size), whole_numbers);
  const auto before = values_of(x.summands.local(0));
  const auto reduced = dp::reduce<To>(x.summands);
  static_assert(std::is_same_v<typename decltype(reduced)::placement_type, To>);
  CHECK(values_of(reduced) == x.value);
  CHECK(values_of(x.summands.local(0)) == before);
  CHECK(values_of(dp::reduce<To>(std::move(x.summands))) == x.value);
}

template <std::size_t Axis, class To, class Where, reduction Op, class T, class Extents, class Split>
void check_reduce_scatter(const Extents& extents, const Split& how, bool whole_numbers) {
  const auto x = random_summands<Where, Op, T>(extents, whole_numbers);
  const auto parts = dp::reduce_scatter<To>(x.summands, how);
  const auto begins = dp::detail::divide<dp::place_count<To>>(extents.extent(Axis), how);
  for (std::size_t k = 0; k < dp::place_count<To>; ++k)
    CHECK(values_of(parts.local(k)) == part_of(x.value, extents, Axis, begins[k], begins[k + 1]));
}

template <class T>
void check_both() {
  support::for_1_to_9_devices([](auto mesh) {
    using where = typename decltype(mesh)::template partial<reduction::sum>;
    using rows = typename decltype(mesh)::template sharded<0>;
    constexpr std::size_t n = dp::place_count<where>;
    for (const std::size_t size : std::vector<std::size_t>{0, 1, n - 1, n, 3 * n + 2}) {
      CAPTURE(n, size);
      check_reduce<dp::on<dp::cuda<0>>, where, reduction::sum, T>(size, true);
      check_reduce_scatter<0, rows, where, reduction::sum, T>(dp::extents<dyn, 3>(size), dp::split::even, true);
    }
  });
}

}  // namespace

TEST_CASE("reduce and reduce_scatter of exact numbers, for all numbers of places", "[parallel]") {
  check_both<std::int32_t>();
  check_both<std::int64_t>();
  check_both<float>();
  check_both<double>();
}

TEST_CASE("reduce onto any place, in the order of the places, to the bit", "[parallel]") {
  check_reduce<dp::on<dp::cuda<3>>, dp::partial<reduction::sum, 2, 0, 3, 1>, reduction::sum, float>(5001, false);
  check_reduce<dp::on<dp::cuda<5>>, dp::partial<reduction::mean, 2, 0, 3>, reduction::mean, double>(501, false);
  check_reduce<dp::on<dp::cpu>, dp::partial<reduction::max, 1, 0>, reduction::max, float>(501, false);
  check_reduce<dp::on<dp::cuda<1>>, dp::partial<reduction::min, 0, 1>, reduction::min, std::int64_t>(33, true);
}

TEST_CASE("reduce_scatter along any axis, by any rule, to the bit", "[parallel]") {
  using four = dp::partial<reduction::sum, 2, 0, 3, 1>;
  const dp::extents<5, 7, 3> e;
  check_reduce_scatter<0, dp::sharded<0, 2, 0, 3, 1>, four, reduction::sum, float>(e, dp::split::torch, false);
  check_reduce_scatter<1, dp::sharded<1, 2, 0, 3, 1>, four, reduction::sum, float>(e, dp::split::even, false);
  check_reduce_scatter<2, dp::sharded<2, 2, 0, 3, 1>, four, reduction::sum, double>(e, dp::split::even, false);
  check_reduce_scatter<1, dp::sharded<1, 2, 0, 3, 1>, four, reduction::sum, float>(e, dp::split::sizes{0, 4, 2, 1},
                                                                                   false);
  check_reduce_scatter<1, dp::sharded<1, 1, 0>, dp::partial<reduction::mean, 1, 0>, reduction::mean, double>(
      dp::extents<40, 601>{}, dp::split::even, false);
  check_reduce_scatter<0, dp::sharded<0, 1, 0>, dp::partial<reduction::max, 1, 0>, reduction::max, std::int32_t>(
      dp::extents<7>{}, dp::split::torch, true);
}
