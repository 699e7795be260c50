// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Exchanges, stencils, reductions and files of fields, for the symbol test; never run.

#include <cstddef>
#include <string>

#include <devplace/fields.hpp>

namespace dp = devplace;

namespace {

struct set {
  void operator()(double& x, std::size_t i, std::size_t j) const { x = static_cast<double>(i * 7 + j); }
};
struct five_points {
  double operator()(const auto& u) const { return u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0); }
};
struct product {
  double operator()(double x, double y) const { return x * y; }
};

template <class Where> double use_field(const std::string& file) {
  dp::field<double, dp::dextents<2>, Where, dp::halo<1, 1>> u(dp::extents{13, 9}), v(u.extents());
  dp::parallel_for(set{}, u);
  dp::stencil(v, five_points{}, dp::exchange(u, dp::edge::periodic));
  dp::stencil(u, five_points{}, dp::exchange_async(v, dp::edge::fixed(1), dp::edge::mirrored));
  v = u.clone();
  dp::write_npy(file, u);
  dp::read_npy(file, u);
  dp::copy(v, dp::gather<dp::cpu>(u));
  return dp::parallel_reduce(product{}, u, v) + dp::exact_sum(product{}, u, v);
}

}  // namespace

double use_fields(const std::string& file) {
  return use_field<dp::cpu>(file) + use_field<dp::sharded<dp::axis<0>, 0, 1>>(file) +
         use_field<dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>>(file) +
         use_field<dp::across<dp::sharded<dp::axis<1>, 0, 1>>>(file);
}
