// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stencils of 5 and 7 points and a dot product of fields on the CPU, beside loops of OpenMP written by hand, with 1 and
// all threads: milliseconds and the bandwidth that they use, counting each array once. Rounds alternate; reports
// medians. Argument: rounds (default 15).

#include <cstddef>
#include <cstdlib>
#include <vector>

#include <omp.h>

#include <devplace/base/thread_team.hpp>
#include <devplace/fields.hpp>

#include "support/stencils.hpp"

namespace dp = devplace;
using namespace dp::bench;

namespace {

/// Arrays with ghosts, which OpenMP's threads touch first.
std::vector<double> filled(std::size_t count) {
  std::vector<double> x;
  x.reserve(count);
  double* const at = x.data();
#pragma omp parallel for
  for (std::size_t i = 0; i < count; ++i) at[i] = 1;
  x.resize(count, 1.0);
  return x;
}

void five_by_hand(double* __restrict to, const double* __restrict from, std::size_t n, double r) {
  const std::size_t w = n + 2;
#pragma omp parallel for
  for (std::size_t i = 1; i <= n; ++i) {
    const double *const u = from + i * w, *const above = u - w, *const below = u + w;
    double* const v = to + i * w;
#pragma omp simd
    for (std::size_t j = 1; j <= n; ++j) v[j] = u[j] + r * (above[j] + below[j] + u[j - 1] + u[j + 1] - 4 * u[j]);
  }
}
void seven_by_hand(double* __restrict to, const double* __restrict from, std::size_t n, double r) {
  const std::size_t w = n + 2;
#pragma omp parallel for
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= n; ++j) {
      const double* const u = from + (i * w + j) * w;
      double* const v = to + (i * w + j) * w;
#pragma omp simd
      for (std::size_t k = 1; k <= n; ++k)
        v[k] = u[k] + r * (u[k - w * w] + u[k + w * w] + u[k - w] + u[k + w] + u[k - 1] + u[k + 1] - 6 * u[k]);
    }
}
double dot_by_hand(const double* x, const double* y, std::size_t n) {
  const std::size_t w = n + 2;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 1; i <= n; ++i) {
    double of_row = 0;
#pragma omp simd reduction(+ : of_row)
    for (std::size_t j = 1; j <= n; ++j) of_row += x[i * w + j] * y[i * w + j];
    sum += of_row;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15, most = dp::thread_count();
  constexpr std::size_t rows = 4096, edge = 256;
  double sum = 0;
  for (int threads = 1; threads <= most; threads += most - 1 > 0 ? most - 1 : 1) {
    dp::set_thread_count(threads);
    omp_set_num_threads(threads);
    {
      plate u(dp::extents{rows, rows}), v(u.extents());
      u.local(0) = 1;
      v.local(0) = 0.1;
      auto x = filled((rows + 2) * (rows + 2)), y = filled(x.size());
      const double bytes = 16.0 * static_cast<double>(rows * rows);
      const auto exchanged = dp::exchange(u, dp::edge::periodic);
      compare(
          "5 points", rounds, bytes, [&] { dp::stencil(v, five_points{0.1}, exchanged); }, "OpenMP",
          [&] { five_by_hand(y.data(), x.data(), rows, 0.1); });
      compare(
          "with an exchange", rounds, bytes,
          [&] { dp::stencil(v, five_points{0.1}, dp::exchange(u, dp::edge::periodic)); }, "OpenMP",
          [&] { five_by_hand(y.data(), x.data(), rows, 0.1); });
      compare(
          "overlapped", rounds, bytes,
          [&] { dp::stencil(v, five_points{0.1}, dp::exchange_async(u, dp::edge::periodic)); }, "OpenMP",
          [&] { five_by_hand(y.data(), x.data(), rows, 0.1); });
      compare(
          "dot", rounds, bytes, [&] { sum += dp::parallel_reduce(product{}, u, v); }, "OpenMP",
          [&] { sum += dot_by_hand(x.data(), y.data(), rows); });
      compare(
          "exact dot", rounds, bytes, [&] { sum += dp::exact_sum(product{}, u, v); }, "OpenMP",
          [&] { sum += dot_by_hand(x.data(), y.data(), rows); });
    }
    {
      cube u(dp::extents{edge, edge, edge}), v(u.extents());
      auto x = filled((edge + 2) * (edge + 2) * (edge + 2)), y = filled(x.size());
      const auto exchanged = dp::exchange(u, dp::edge::periodic);
      compare(
          "7 points", rounds, 16.0 * static_cast<double>(edge * edge * edge),
          [&] { dp::stencil(v, seven_points{0.1}, exchanged); }, "OpenMP",
          [&] { seven_by_hand(y.data(), x.data(), edge, 0.1); });
    }
    if (threads == most) break;
  }
  return sum == -1 ? 1 : 0;
}
