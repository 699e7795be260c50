// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>
#include <vector>

#include <devplace/fields.hpp>

#include "support/catch.hpp"
#include "support/forked_group.hpp"
#include "support/replaced_new.hpp"

namespace dp = devplace;
namespace edge = dp::edge;

namespace {

struct five_points {
  double operator()(const auto& u) const { return u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0); }
};

/// The allocations of ten steps after the first one, by operator new and by devplace.
template <class Where> std::vector<float> allocations_of_steps() {
  dp::field<double, dp::dextents<2>, Where, dp::halo<1, 1>> u(dp::extents{60, 50}), v(u.extents());
  const auto step = [&](edge::rule rows) {
    dp::stencil(v, five_points{}, dp::exchange(u, rows, edge::mirrored));
    dp::stencil(u, five_points{}, dp::exchange_async(v, rows, edge::periodic));
    std::swap(u, v);
  };
  step(edge::fixed(0));
  step(edge::fixed(0));
  const long before = support::allocations;
  const std::size_t blocks = dp::memory_statistics<dp::cpu>().allocations;
  for (int i = 0; i != 10; ++i) step(i % 2 == 0 ? edge::periodic : edge::fixed(1));
  return {static_cast<float>(support::allocations - before),
          static_cast<float>(dp::memory_statistics<dp::cpu>().allocations - blocks)};
}

}  // namespace

TEST_CASE("exchanges and stencils do not allocate after the first", "[field]") {
  using rows = dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>;
  using columns = dp::across<dp::sharded_on<dp::axis<1>, dp::cpu>>;
  const std::vector<float> none{0, 0};
  CHECK(support::differences(support::in_forked_group(2, [] { return allocations_of_steps<rows>(); }), none) == "");
  CHECK(support::differences(support::in_forked_group(2, [] { return allocations_of_steps<columns>(); }), none) == "");
  CHECK(allocations_of_steps<dp::cpu>() == none);
}
