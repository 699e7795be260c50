// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/fields.md quotes.

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/core.hpp>
#include <devplace/fields.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;

namespace {

using where = dp::sharded<dp::axis<0>, 0, 1>;
using plate = dp::field<double, dp::dextents<2>, where, dp::halo<1, 1>>;

struct hot_corner {
  DEVPLACE_HD void operator()(double& u, std::size_t i, std::size_t j) const { u = i + j < 8 ? 1.0 : 0.0; }
};

struct heat_step {
  double r;
  template <class Cell> DEVPLACE_HD double operator()(const Cell& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

struct wave_step {
  double c;
  template <class Cell> DEVPLACE_HD double operator()(const Cell& u, double before) const {
    return 2 * u(0, 0) - before + c * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

struct add_scaled {
  double a;
  DEVPLACE_HD void operator()(double& y, double x) const { y += a * x; }
};

struct product {
  DEVPLACE_HD double operator()(double x, double y) const { return x * y; }
};

}  // namespace

TEST_CASE("docs/fields.md: a time loop", "[docs]") {
  const support::temporary_folder folder;
  const std::string file = folder.file("plate.npy");
  const std::size_t rows = 24, columns = 16;
  const int steps = 10;

  plate u(dp::extents{rows, columns}), next(u.extents());  // zeros, rows 0 to 11 on cuda<0>, the others on cuda<1>
  dp::parallel_for(hot_corner{}, u);
  const double before = dp::exact_sum(product{}, u, u);

  for (int step = 0; step != steps; ++step) {
    dp::stencil(next, heat_step{0.2}, dp::exchange(u, dp::edge::fixed(0), dp::edge::mirrored));
    std::swap(u, next);
  }
  const double after = dp::exact_sum(product{}, u, u);
  CHECK(before == 36);
  CHECK(after < before);
  CHECK(after > 0);

  dp::stencil(next, heat_step{0.2}, dp::exchange_async(u, dp::edge::periodic));

  dp::parallel_for(add_scaled{-1.0}, u, std::as_const(next));  // u = u - next; the ghost rows of u are stale
  const double inner = dp::parallel_reduce(product{}, u, next);
  const double change = dp::parallel_reduce<dp::reduction::max>(product{}, u, u);
  const double same = dp::exact_sum(product{}, u, next);  // bits independent of the number of places
  CHECK(change > 0);
  CHECK(same == Catch::Approx(inner));

  dp::write_npy(file, u);  // the whole field, also over processes
  dp::field<double, dp::dextents<2>, dp::cpu> on_host(u.extents());
  dp::read_npy(file, on_host);                      // by any number of places
  const dp::tensor whole = dp::gather<dp::cpu>(u);  // a tensor
  const auto part = dp::to<dp::cpu>(u.local(1));    // the cells of one place, without ghost rows
  dp::write_npy(folder.file("plate.1.npy"), part);  // a file of one part
  CHECK(on_host.local(dp::cpu{})(13, 5) == whole(13, 5));
  CHECK(part(13 - u.begin(1)[0], 5) == whole(13, 5));
}

TEST_CASE("docs/fields.md: several fields, and stale ghost rows", "[docs]") {
  plate u(dp::extents{8, 8}), past(u.extents()), next(u.extents());
  dp::stencil(next, wave_step{0.1}, dp::exchange(u, dp::edge::periodic), past);

  const auto rows = dp::exchange(u, dp::edge::periodic);
  dp::stencil(next, heat_step{0.2}, rows);
  dp::parallel_for(add_scaled{1.0}, u, std::as_const(past));
  CHECK_THROWS_AS(dp::stencil(next, heat_step{0.2}, rows), dp::argument_error);  // u was written since
}
