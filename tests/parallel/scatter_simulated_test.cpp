// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/copy.hpp>

#include "parallel/meshes.hpp"
#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using support::counted;
using support::part_of;
using support::values_of;

namespace {

using sizes = std::vector<std::size_t>;

/// Compares every part of `shards` with the elements of `x`, one by one, and returns the parts' sizes.
template <std::size_t Axis, class X, class Shards> sizes check_parts(const X& x, const Shards& shards) {
  const auto whole = values_of(x);
  sizes result;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < Shards::places; ++k) {
    const std::size_t size = shards.local(k).extent(Axis);
    CHECK(shards.part_begin(k) == begin);
    CHECK(values_of(shards.local(k)) == part_of(whole, x.extents(), Axis, begin, begin + size));
    begin += size;
    result.push_back(size);
  }
  CHECK(begin == x.extent(Axis));
  return result;
}

}  // namespace

TEST_CASE("scatter gives every place its rows, for up to nine places", "[parallel]") {
  support::for_up_to_9_devices([](auto mesh) {
    using where = typename decltype(mesh)::template sharded<0>;
    constexpr std::size_t n = dp::local_place_count<where>;
    for (const std::size_t rows : sizes{0, 1, n - 1, n, n + 1, 4 * n + 3}) {
      const auto x = counted<float>(dp::extents<dyn, 3>(rows));
      const auto shards = dp::scatter<where>(x);
      static_assert(std::is_same_v<typename decltype(shards)::placement_type, where>);
      const sizes got = check_parts<0>(x, shards);
      CHECK(got.front() - got.back() <= 1);
      check_parts<0>(x, dp::scatter<where>(x, dp::split::torch));
    }
  });
}

TEST_CASE("scatter accepts every split rule, along every axis", "[parallel]") {
  const auto x = counted<double>(dp::extents<4, 7, 3>{});
  CHECK(check_parts<0>(x, dp::scatter<dp::sharded<dp::axis<0>, 0, 1, 2>>(x)) == sizes{2, 1, 1});
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 2, 0>>(x)) == sizes{4, 3});
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(x, dp::split::torch)) == sizes{3, 3, 1});
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2, 3>>(x, dp::split::torch)) == sizes{2, 2, 2, 1});
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(x, dp::split::sizes{5, 0, 2})) ==
        sizes{5, 0, 2});
  CHECK(check_parts<2>(x, dp::scatter<dp::sharded<dp::axis<2>, 1, 0, 3, 2>>(x)) == sizes{1, 1, 1, 0});
  const auto rule = x.size() > 80 ? dp::split::torch : dp::split::even;  // chosen at run time
  CHECK(check_parts<0>(x, dp::scatter<dp::sharded<dp::axis<0>, 0, 1, 2>>(x, rule)) == sizes{2, 2, 0});
  CHECK_THROWS_AS((dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(x, dp::split::sizes{1, 2})), dp::argument_error);
}

TEST_CASE("scatter can reuse the split of another tensor", "[parallel]") {
  const auto shards =
      dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(counted<float>(dp::extents<5, 2>{}), dp::split::sizes{1, 4});
  const auto labels = counted<std::int64_t>(dp::extents<5>{});
  CHECK(check_parts<0>(labels, dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(labels, shards.split_sizes())) ==
        sizes{1, 4});
}

TEST_CASE("scatter accepts views and tensors on any place", "[parallel]") {
  const auto x = counted<float>(dp::extents<6, 5>{});
  const auto there = dp::to<dp::on<dp::cuda<1>>>(x);
  CHECK(check_parts<0>(x, dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(there)) == sizes{3, 3});
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(there)) == sizes{2, 2, 1});
  const auto middle = x.slice(1, 4);
  CHECK(check_parts<1>(middle, dp::scatter<dp::sharded<dp::axis<1>, 2, 1>>(middle)) == sizes{3, 2});
  CHECK(check_parts<0>(x, dp::scatter<dp::sharded<dp::axis<0>, 2, 1>>(there.view().erased())) == sizes{3, 3});
  const auto pinned = dp::to<dp::on<dp::pinned>>(x);
  CHECK(check_parts<1>(x, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(pinned)) == sizes{2, 2, 1});
  CHECK(dp::gather<dp::on<dp::pinned>>(dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(pinned))(5, 4) == 29);
}

TEST_CASE("scatter along an axis of extent 0, and of rank 1", "[parallel]") {
  const auto none = counted<float>(dp::extents<0, 6>{});
  CHECK(check_parts<1>(none, dp::scatter<dp::sharded<dp::axis<1>, 0, 1>>(none)) == sizes{3, 3});
  const auto hollow = counted<float>(dp::extents<3, 4, 0>{});
  CHECK(check_parts<1>(hollow, dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(hollow)) == sizes{2, 1, 1});
  const auto single = counted<float>(dp::extents<1>{});
  CHECK(check_parts<0>(single, dp::scatter<dp::sharded<dp::axis<0>, 3, 1, 2>>(single)) == sizes{1, 0, 0});
}

TEST_CASE("the source may be changed as soon as scatter returns", "[parallel]") {
  auto x = counted<float>(dp::extents<512, 512>{});
  const auto before = x.clone();
  const auto rows = dp::scatter<dp::sharded<dp::axis<0>, 0, 1, 2>>(x);
  const auto columns = dp::scatter<dp::sharded<dp::axis<1>, 0, 1, 2>>(x);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = -1;
  check_parts<0>(before, rows);
  check_parts<1>(before, columns);
}
