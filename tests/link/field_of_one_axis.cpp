// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with warnings as errors: g++ -O2 suspects that the exchange of a field of one axis packs layers of a second
// axis.
#define DEVPLACE_WITH_COMPILED 1

#include <cstddef>

#include <devplace/fields.hpp>

namespace dp = devplace;

namespace {

struct left {
  DEVPLACE_HD double operator()(const auto& u) const { return u(-1); }
};

}  // namespace

int main() {
  dp::field<double, dp::dextents<1>, dp::cpu, dp::halo<1>> u(dp::extents{std::size_t{8}}), v(u.extents());
  u.local(0) = 1.0;
  dp::stencil(v, left{}, dp::exchange(u, dp::edge::fixed(0)));
  return dp::exact_sum(left{}, dp::exchange(v, dp::edge::periodic)) == 7 ? 0 : 1;
}
