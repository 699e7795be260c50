// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/copy.hpp>

#include "parallel/meshes.hpp"
#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using support::counted;
using support::values_of;

namespace {

/// Checks that gathering a split tensor in every way gives the original.
template <class Where, class X, class Split> void check_both(const X& x, const Split& how) {
  const auto whole = values_of(x);
  const auto shards = dp::scatter<Where>(x, how);
  CHECK(values_of(dp::gather<dp::on<dp::cpu>>(shards)) == whole);
  const auto on_a_member = dp::gather<dp::on<dp::cuda<0>>>(shards);
  static_assert(std::is_same_v<typename decltype(on_a_member)::placement_type, dp::on<dp::cuda<0>>>);
  CHECK(values_of(on_a_member) == whole);
  CHECK(values_of(dp::gather<dp::on<dp::cuda<8>>>(shards)) == whole);
  const auto everywhere = dp::all_gather(shards);
  CHECK(everywhere.extents() == x.extents());
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) {
    CHECK(everywhere.local(k).ordinal() == shards.local(k).ordinal());
    CHECK(values_of(everywhere.local(k)) == whole);
  }
}

}  // namespace

TEST_CASE("gather and all_gather undo scatter, for up to nine places", "[parallel]") {
  support::for_up_to_9_devices([](auto mesh) {
    using rows = typename decltype(mesh)::template sharded<0>;
    using columns = typename decltype(mesh)::template sharded<1>;
    constexpr std::size_t n = dp::local_place_count<rows>;
    for (const std::size_t size : std::vector<std::size_t>{0, 1, n - 1, n, 3 * n + 1}) {
      CAPTURE(n, size);
      check_both<rows>(counted<float>(dp::extents<dyn, 2>(size)), dp::split::even);
      check_both<rows>(counted<float>(dp::extents<dyn, 2>(size)), dp::split::torch);
      check_both<columns>(counted<float>(dp::extents<2, dyn>(size)), dp::split::even);
    }
  });
}

TEST_CASE("gather and all_gather accept any order of places, axis and split", "[parallel]") {
  const auto x = counted<double>(dp::extents<4, 6, 5>{});
  check_both<dp::sharded<dp::axis<0>, 2, 0>>(x, dp::split::sizes{1, 3});
  check_both<dp::sharded<dp::axis<1>, 3, 1, 2>>(x, dp::split::sizes{0, 5, 1});
  check_both<dp::sharded<dp::axis<2>, 1, 0, 2>>(x, dp::split::torch);
  static_assert(std::is_same_v<decltype(dp::all_gather(dp::scatter<dp::sharded<dp::axis<2>, 1, 0>>(x)))::placement_type,
                               dp::replicated<1, 0>>);
}

TEST_CASE("gather and all_gather of many elements", "[parallel]") {
  const auto x = counted<float>(dp::extents<1000, 333>{});
  check_both<dp::sharded<dp::axis<0>, 0, 1, 2>>(x, dp::split::even);
  check_both<dp::sharded<dp::axis<1>, 0, 1, 2>>(x, dp::split::torch);
}
