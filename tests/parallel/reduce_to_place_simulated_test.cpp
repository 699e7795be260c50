// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/parallel/reduce_scatter.hpp>
#include <devplace/parallel/reduce_to_place.hpp>

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

template <class To, class Where, class T> void check_reduce(std::size_t size, bool whole_numbers) {
  auto x = random_summands<Where, T>(dp::extents<dyn>(size), whole_numbers);
  const auto before = values_of(x.summands.only_on(0));
  const auto reduced = dp::reduce<To>(x.summands);
  static_assert(std::is_same_v<typename decltype(reduced)::placement_type, To>);
  CHECK(values_of(reduced) == x.value);
  CHECK(values_of(x.summands.only_on(0)) == before);
  CHECK(values_of(dp::reduce<To>(std::move(x.summands))) == x.value);
}

template <class To, class Where, class T, class Extents, class Split>
void check_reduce_scatter(const Extents& extents, const Split& how, bool whole_numbers) {
  constexpr std::size_t axis = dp::detail::kind_of<To>::axis;
  const auto begins = dp::detail::divide<dp::local_place_count<To>>(extents.extent(axis), how);
  auto x = random_summands<Where, T>(extents, whole_numbers);
  const auto before = values_of(x.summands.only_on(0));
  const auto parts = dp::reduce_scatter<To>(x.summands, how);
  CHECK(values_of(x.summands.only_on(0)) == before);
  const auto of_temporary = dp::reduce_scatter<To>(std::move(x.summands), how);
  for (std::size_t k = 0; k < dp::local_place_count<To>; ++k) {
    const auto expected = part_of(x.value, extents, axis, begins[k], begins[k + 1]);
    CHECK(values_of(parts.local(k)) == expected);
    CHECK(values_of(of_temporary.local(k)) == expected);
  }
}

template <class T> void check_both(auto mesh) {
  using where = typename decltype(mesh)::template partial<reduction::sum>;
  using rows = typename decltype(mesh)::template sharded<0>;
  constexpr std::size_t n = dp::local_place_count<where>;
  for (const std::size_t size : std::vector<std::size_t>{0, 1, n - 1, n, 3 * n + 2}) {
    CAPTURE(n, size);
    check_reduce<dp::on<dp::cuda<0>>, where, T>(size, true);
    check_reduce_scatter<rows, where, T>(dp::extents<dyn, 3>(size), dp::split::even, true);
  }
}

}  // namespace

TEST_CASE("reduce and reduce_scatter of integers are exact, for up to nine places", "[parallel]") {
  support::for_up_to_9_devices([](auto mesh) { check_both<float>(mesh); });
  support::for_devices<3>([](auto mesh) {
    check_both<std::int32_t>(mesh);
    check_both<std::int64_t>(mesh);
  });
}

TEST_CASE("reduce to any place adds in the order of the places, bitwise", "[parallel]") {
  check_reduce<dp::on<dp::cuda<3>>, dp::partial<reduction::sum, 2, 0, 3, 1>, float>(5001, false);
  check_reduce<dp::on<dp::cuda<5>>, dp::partial<reduction::mean, 2, 0, 3>, double>(501, false);
  check_reduce<dp::on<dp::cpu>, dp::partial<reduction::max, 1, 0>, float>(501, false);
  check_reduce<dp::on<dp::cuda<1>>, dp::partial<reduction::min, 0, 1>, std::int64_t>(33, true);
}

TEST_CASE("reduce_scatter is bitwise correct along any axis, with any split rule", "[parallel]") {
  using four = dp::partial<reduction::sum, 2, 0, 3, 1>;
  const dp::extents<5, 7, 3> e;
  check_reduce_scatter<dp::sharded<dp::axis<0>, 2, 0, 3, 1>, four, float>(e, dp::split::torch, false);
  check_reduce_scatter<dp::sharded<dp::axis<1>, 2, 0, 3, 1>, four, float>(e, dp::split::even, false);
  check_reduce_scatter<dp::sharded<dp::axis<2>, 2, 0, 3, 1>, four, double>(e, dp::split::even, false);
  check_reduce_scatter<dp::sharded<dp::axis<1>, 2, 0, 3, 1>, four, float>(e, dp::split::sizes{0, 4, 2, 1}, false);
  check_reduce_scatter<dp::sharded<dp::axis<1>, 1, 0>, dp::partial<reduction::mean, 1, 0>, double>(
      dp::extents<40, 601>{}, dp::split::even, false);
  check_reduce_scatter<dp::sharded<dp::axis<0>, 1, 0>, dp::partial<reduction::max, 1, 0>, std::int32_t>(
      dp::extents<7>{}, dp::split::torch, true);
}

TEST_CASE("reduce_scatter of a temporary along its first axis allocates only the result", "[parallel]") {
  auto x = random_summands<dp::partial<reduction::sum, 0, 1>, float>(dp::extents<6, 3>{}, true);
  const auto blocks = [] {
    return dp::memory_statistics<dp::cuda<0>>().allocations + dp::memory_statistics<dp::cuda<1>>().allocations;
  };
  const auto before = blocks();
  const auto rows = dp::reduce_scatter<dp::sharded<dp::axis<0>, 0, 1>>(x.summands);
  CHECK(blocks() == before + 4);
  const auto of_temporary = dp::reduce_scatter<dp::sharded<dp::axis<0>, 0, 1>>(std::move(x.summands));
  CHECK(blocks() == before + 6);
}
