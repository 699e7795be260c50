// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arrays without networks: heat in a plate, by views, by a kernel of the program and by matrix products, on any place.
// The three results must agree to rounding, and the CPU's with the device's.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numbers>
#include <utility>

#include <devplace/core.hpp>
#include <devplace/sorting.hpp>

namespace dp = devplace;
using dp::axis;

namespace {

constexpr std::size_t n = 32;  // inner points along each axis
using matrix = dp::extents<n, n>;

/// One explicit step of the heat equation at an inner point.
struct heat_step {
  const double* from;
  double* to;
  double r;
  DEVPLACE_HD void operator()(std::size_t i, std::size_t j) const {
    const std::size_t k = (i + 1) * (n + 2) + j + 1;
    to[k] = from[k] + r * (from[k - 1] + from[k + 1] + from[k - n - 2] + from[k + n + 2] - 4 * from[k]);
  }
};

/// Sines of all modes, which diagonalise the Laplacian with zeros at the border.
struct sine {
  double* to;
  DEVPLACE_HD void operator()(std::size_t i, std::size_t j) const {
    to[i * n + j] = std::sqrt(2.0 / (n + 1)) * std::sin(std::numbers::pi * double(i + 1) * double(j + 1) / (n + 1));
  }
};

template <class Where> double run() {
  const double r = 0.2;
  const int steps = 50;

  auto start = dp::zeros<double, Where>(n + 2, n + 2);
  auto inner_of = [](auto& x) { return x.slice(axis<0>{}, 1, n + 1).slice(axis<1>{}, 1, n + 1); };
  dp::copy(inner_of(start), dp::uniform<double, Where>(matrix{}, dp::seed{1}));

  // By views: the five points of the stencil are slices.
  auto a = start.clone();
  for (int t = 0; t < steps; ++t) {
    const auto at = [&](std::size_t i, std::size_t j) {
      return a.slice(axis<0>{}, i, i + n).slice(axis<1>{}, j, j + n);
    };
    at(1, 1) = at(1, 1) + r * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4.0 * at(1, 1));
  }

  // By a kernel.
  auto b = start.clone(), c = start.clone();
  for (int t = 0; t < steps; ++t) {
    dp::parallel_for(Where{}, matrix{}, heat_step{std::to_address(b.data()), std::to_address(c.data()), r});
    std::swap(b, c);
  }

  // By matrix products: S u S are the amplitudes of the modes, each of which decays by a known factor in a step.
  auto s = dp::zeros<double, Where>(n, n);
  dp::parallel_for(Where{}, matrix{}, sine{std::to_address(s.data())});
  const auto mode = dp::arange<double, Where>(n);
  const dp::tensor wave = 4.0 * dp::square(dp::sin((mode + 1.0) * (std::numbers::pi / (2 * (n + 1)))));
  const dp::tensor decay = dp::pow(1.0 - r * (wave.reshape(dp::extents<dp::dyn, 1>{n}) + wave), double(steps));
  const auto amplitudes = dp::matmul(dp::matmul(s, inner_of(start)), s);
  const auto exact = dp::matmul(dp::matmul(s, amplitudes * decay), s);

  const double unit = dp::item(dp::norm(dp::matmul(s, dp::transposed(s)) - dp::eye<double, Where>(n)));
  const double by_views = dp::item(dp::norm(inner_of(a) - exact)) / dp::item(dp::norm(exact));
  const double by_kernel = dp::item(dp::norm<dp::infinite_order>(inner_of(b) - exact));

  // Hottest points, and the share of the heat in the hottest tenth.
  const auto flat = dp::to<Where>(inner_of(a)).reshape(dp::extents<n * n>{});
  const auto [values, positions] = dp::top_k(flat, 3);
  const auto sorted = dp::sort(flat, dp::sort_order::descending);
  const auto running = dp::cumsum(sorted);
  const double share = dp::item(running[n * n / 10]) / dp::item(dp::sum(flat));
  const auto on_host = dp::to<dp::cpu>(positions);
  std::printf("%s: errors %.1e by views, %.1e by a kernel; hottest point (%d, %d), %.1f %% of the heat in a tenth\n",
              dp::placement_name<Where>().c_str(), by_views, by_kernel, int(on_host(0) / std::int64_t{n}),
              int(on_host(0) % std::int64_t{n}), 100 * share);
  const bool right =
      unit < 1e-12 && by_views < 1e-12 && by_kernel < 1e-12 && share > 0.1 && dp::item(values[0] == sorted[0]);
  return right ? dp::item(dp::mean(a)) : NAN;
}

}  // namespace

int main() {
  const double on_cpu = run<dp::on<dp::cpu>>();
  const double on_device =
      dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>([](auto where) { return run<decltype(where)>(); });
  return std::abs(on_cpu - on_device) < 1e-14 ? 0 : 1;
}
