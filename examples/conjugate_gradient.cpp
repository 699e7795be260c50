// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Poisson's equation in the unit square, -laplace(u) = f with u = 0 at the edges, by conjugate gradients without a
// matrix. One solver for the CPU, for several devices and for several processes, which differ by the placement alone.
// Its dot products are exact sums, so steps and solution have the same bits on each of them:
//
//   conjugate_gradient [solution.npy [cells]]     mpirun -n 3 conjugate_gradient     torchrun --nproc-per-node 2 ...
//
// Errors against the exact solution fall with the square of the distance of points. See docs/fields.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <devplace/core.hpp>
#include <devplace/fields.hpp>
#include <devplace/process/launch.hpp>

namespace dp = devplace;

namespace {

/// Values at n x n points inside the square; point (i, j) lies at ((i + 1) h, (j + 1) h).
template <dp::placement Where> using grid = dp::field<double, dp::dextents<2>, Where, dp::halo<1, 1>>;

/// u(x, y) = p(x) p(y) with p(x) = x - x^5, and f = -laplace(u).
struct exact {
  double h;
  DEVPLACE_HD static double p(double x) { return x - x * x * x * x * x; }
  DEVPLACE_HD double u(std::size_t i, std::size_t j) const { return p(h * double(i + 1)) * p(h * double(j + 1)); }
  DEVPLACE_HD double f(std::size_t i, std::size_t j) const {
    const double x = h * double(i + 1), y = h * double(j + 1);
    return 20 * (x * x * x * p(y) + p(x) * y * y * y);
  }
};
struct set_right_side {
  exact of;
  DEVPLACE_HD void operator()(double& b, std::size_t i, std::size_t j) const { b = of.h * of.h * of.f(i, j); }
};
struct error {
  exact of;
  DEVPLACE_HD double operator()(double u, std::size_t i, std::size_t j) const { return std::abs(u - of.u(i, j)); }
};

/// The matrix: -h^2 laplace.
struct five_points {
  template <class Cell> DEVPLACE_HD double operator()(const Cell& u) const {
    return 4 * u(0, 0) - u(-1, 0) - u(1, 0) - u(0, -1) - u(0, 1);
  }
};
struct product {
  DEVPLACE_HD double operator()(double x, double y) const { return x * y; }
};
struct add_scaled {
  double a;
  DEVPLACE_HD void operator()(double& y, double x) const { y += a * x; }
};
struct scale_and_add {
  double a;
  DEVPLACE_HD void operator()(double& y, double x) const { y = x + a * y; }
};

/// Solves A x = b, where x is 0 at first, to a relative residual; returns the number of steps.
template <dp::placement Where>
int conjugate_gradient(grid<Where>& x, const grid<Where>& b, double tolerance, int most_steps) {
  grid<Where> residual = b.clone(), direction = b.clone(), a_direction(b.extents());
  const auto dot = [](const grid<Where>& u, const grid<Where>& v) { return dp::exact_sum(product{}, u, v); };
  double square = dot(residual, residual);
  const double enough = tolerance * tolerance * square;
  int step = 0;
  for (; square > enough; ++step) {
    if (step == most_steps) throw dp::error("conjugate_gradient: the residual does not fall");
    dp::stencil(a_direction, five_points{}, dp::exchange_async(direction, dp::edge::fixed(0)));
    const double a = square / dot(direction, a_direction);
    dp::parallel_for(add_scaled{a}, x, std::as_const(direction));
    dp::parallel_for(add_scaled{-a}, residual, std::as_const(a_direction));
    const double before = std::exchange(square, dot(residual, residual));
    dp::parallel_for(scale_and_add{square / before}, direction, std::as_const(residual));
  }
  return step;
}

struct result {
  int steps;
  double error;
  std::vector<double> solution;
  bool operator==(const result&) const = default;
};

/// Solves with n x n points. Writes the solution to a file, unless its name is empty.
template <dp::placement Where> result solve(std::size_t n, const std::string& file = "") {
  const exact of{1.0 / double(n + 1)};
  grid<Where> x(dp::extents{n, n}), b(x.extents());
  dp::parallel_for(set_right_side{of}, b);
  const int steps = conjugate_gradient(x, b, 1e-10, int(10 * n));
  if (!file.empty()) dp::write_npy(file, x);
  const auto whole = dp::gather<dp::cpu>(x);
  return {steps, dp::parallel_reduce<dp::reduction::max>(error{of}, x), {whole.begin(), whole.end()}};
}

/// Prints errors for three distances of points, and returns the last result. Saves the last solution.
template <dp::placement Where> result run(std::size_t cells, const std::string& file) {
  result last{};
  for (const std::size_t n : {cells / 4 - 1, cells / 2 - 1, cells - 1}) {
    const double before = last.error;
    last = solve<Where>(n, n == cells - 1 ? file : "");
    if (dp::is_main_process())
      std::printf("%4zu x %4zu points: %4d steps, error %.17g\n", n, n, last.steps, last.error);
    // Of second order: half the distance has a quarter of the error.
    const double order = std::log2(before / last.error);
    if (before != 0 && !(order > 1.8 && order < 2.2)) throw dp::error("the error does not fall as it should");
  }
  return last;
}

/// Solves on devices, which must have the CPU's solution: a GPU differs by rounding, because it fuses multiplications
/// and additions, and simulated devices have the same bits.
template <dp::placement Where> void compare(Where, std::size_t n, const result& on_cpu) {
  const result found = solve<Where>(n);
  double difference = 0;
  for (std::size_t i = 0; i != n * n; ++i)
    difference = std::fmax(difference, std::abs(found.solution[i] - on_cpu.solution[i]));
  std::fprintf(stderr, "%s: %s\n", dp::placement_name<Where>().c_str(),
               found == on_cpu ? "the same bits" : "other bits");
  if (!(difference < 1e-7)) throw dp::error("conjugate_gradient: devices have another result");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string file = argc > 1 ? argv[1] : "solution.npy";
  const std::size_t cells = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 128;
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  if (processes.size() > 1) {
    run<dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>>(cells, file);
  } else {
    const result on_cpu = run<dp::cpu>(cells, file);
    dp::first_available<dp::sharded<dp::axis<0>, 0, 1, 2>, dp::sharded<dp::axis<0>, 0, 1>, dp::cuda<0>, dp::cpu>(
        [&](auto where) { compare(where, cells - 1, on_cpu); });
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
