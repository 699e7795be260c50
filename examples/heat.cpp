// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The heat equation in a square plate whose edges are cold: one solver for the CPU, for several devices and for several
// processes, which differ by the placement alone. Any of these commands starts the binary; all print the same bits:
//
//   heat [picture.svg [cells]]         mpirun -n 3 heat        torchrun --nproc-per-node 2 --no-python heat
//
// Errors against the exact solution fall with the square of the distance of points. See docs/fields.md.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numbers>
#include <string>
#include <utility>

#include <devplace/core.hpp>
#include <devplace/fields.hpp>
#include <devplace/process/launch.hpp>

namespace dp = devplace;

namespace {

template <dp::placement Where> using plate = dp::field<double, dp::dextents<2>, Where, dp::halo<1, 1>>;

/// A sum of two modes, each of which decays by itself.
struct exact {
  double h, time;
  DEVPLACE_HD double operator()(std::size_t i, std::size_t j) const {
    const double x = std::numbers::pi * h * double(i + 1), y = std::numbers::pi * h * double(j + 1);
    const double rate = std::numbers::pi * std::numbers::pi * time;
    return std::sin(x) * std::sin(y) * std::exp(-2 * rate) +
           0.5 * std::sin(2 * x) * std::sin(3 * y) * std::exp(-13 * rate);
  }
};
struct set_exact {
  exact of;
  DEVPLACE_HD void operator()(double& u, std::size_t i, std::size_t j) const { u = of(i, j); }
};
struct error {
  exact of;
  DEVPLACE_HD double operator()(double u, std::size_t i, std::size_t j) const { return std::abs(u - of(i, j)); }
};
struct heat_step {
  double r;  ///< duration of the step by the square of the distance of points
  template <class Cell> DEVPLACE_HD double operator()(const Cell& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};
struct value {
  DEVPLACE_HD double operator()(double u) const { return u; }
};

struct result {
  double error, heat, seconds;
};

/// Computes with n x n points; `u` is the field at the end.
template <dp::placement Where> result solve(plate<Where>& u, std::size_t n, bool overlap) {
  const double h = 1.0 / double(n + 1), r = 0.2, end = 0.02;
  const int steps = int(std::lround(end / (r * h * h)));
  plate<Where> next(u.extents());
  dp::parallel_for(set_exact{{h, 0}}, u);
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step != steps; ++step) {
    if (overlap)
      dp::stencil(next, heat_step{r}, dp::exchange_async(u, dp::edge::fixed(0)));
    else
      dp::stencil(next, heat_step{r}, dp::exchange(u, dp::edge::fixed(0)));
    std::swap(u, next);
  }
  const double heat = h * h * dp::exact_sum(value{}, u);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double worst = dp::parallel_reduce<dp::reduction::max>(error{{h, steps * r * h * h}}, u);
  return {worst, heat, seconds.count()};
}

/// Prints errors for three distances of points, and returns the heat at the end. Saves the last field.
template <dp::placement Where> double run(std::size_t cells, const std::string& file) {
  double heat = 0, before = 0;
  for (const std::size_t n : {cells / 4 - 1, cells / 2 - 1, cells - 1}) {
    plate<Where> u(dp::extents{n, n});
    const result apart = solve(u, n, false), overlapped = solve(u, n, true);
    if (apart.heat != overlapped.heat) throw dp::error("heat: the overlap has changed the bits");
    heat = overlapped.heat;
    if (dp::is_main_process()) {
      std::printf("%4zu x %4zu points: error %.3e, heat %.17g\n", n, n, apart.error, heat);
      std::fprintf(stderr, "%s: %.3f s, overlapped %.3f s\n", dp::placement_name<Where>().c_str(), apart.seconds,
                   overlapped.seconds);
    }
    // Of second order: half the distance has a quarter of the error.
    const double order = std::log2(before / apart.error);
    if (before != 0 && !(order > 1.8 && order < 2.3)) throw dp::error("heat: the error does not fall as it should");
    before = apart.error;
    if (n == cells - 1) dp::write_npy(file, u);
  }
  return heat;
}

/// Writes a square for each cell of a coarser grid.
void draw(const std::string& picture, const std::string& file) {
  const auto u = dp::read_npy<double, dp::dextents<2>>(file);
  const std::size_t n = u.extent(0), cells = n < 64 ? n : 64;
  std::ofstream out(picture);
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << cells << ' ' << cells
      << "' shape-rendering='crispEdges'>\n";
  for (std::size_t i = 0; i != cells; ++i)
    for (std::size_t j = 0; j != cells; ++j) {
      const double x = std::fmin(1, std::fmax(0, u(i * n / cells, j * n / cells)));
      out << "<rect x='" << j << "' y='" << i << "' width='1' height='1' fill='rgb(" << int(255 * std::sqrt(x)) << ','
          << int(255 * x * x) << ',' << int(255 * (1 - x) * 0.5) << ")'/>\n";
    }
  out << "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string picture = argc > 1 ? argv[1] : "heat.svg", file = picture + ".npy";
  const std::size_t cells = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 128;
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  if (processes.size() > 1) {
    run<dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>>(cells, file);
  } else {
    const double on_cpu = run<dp::cpu>(cells, file);
    dp::first_available<dp::sharded<dp::axis<0>, 0, 1, 2>, dp::cuda<0>, dp::cpu>([&](auto where) {
      plate<decltype(where)> u(dp::extents{cells - 1, cells - 1});
      const double heat = solve(u, cells - 1, true).heat;
      const bool same_bits = heat == on_cpu, same = std::abs(heat - on_cpu) < 1e-12;  // a GPU fuses multiply-adds
      std::fprintf(stderr, "%s: %s bits\n", dp::placement_name<decltype(where)>().c_str(),
                   same_bits ? "the same" : "other");
      if (!same) throw dp::error("heat: devices have another result");
    });
  }
  if (processes.is_main()) draw(picture, file);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
