// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stencils of 5 and 7 points and a dot product of fields on the CPU, beside Kokkos on the host with as many threads
// (--kokkos-num-threads=<n>; Debian 12 has the Serial space alone): milliseconds and the bandwidth that they use,
// counting each array once. Rounds alternate; reports medians. Argument: rounds (default 15). For OpenMP's space set
// OMP_WAIT_POLICY=passive; otherwise threads of OpenMP spin while devplace computes.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <devplace/base/thread_team.hpp>
#include <devplace/fields.hpp>

#include "support/kokkos_fields.hpp"
#include "support/stencils.hpp"

namespace dp = devplace;
using namespace dp::bench;

int main(int argc, char** argv) {
  const kokkos_scope kokkos(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  std::printf("Kokkos on the host: %s\n", kokkos.name());
  dp::set_thread_count(kokkos.threads());
  constexpr int rows = 4096, edge = 256;
  double field_sum = 0, kokkos_sum = 0;
  {
    plate u(dp::extents{std::size_t{rows}, std::size_t{rows}}), v(u.extents());
    u.local(0) = 1;
    v.local(0) = 0.125;
    constexpr double bytes = 16.0 * rows * rows;
    const auto exchanged = dp::exchange(u, dp::edge::periodic);
    compare(
        "5 points", rounds, bytes, [&] { dp::stencil(v, five_points{0.1}, exchanged); }, "Kokkos",
        kokkos_five_points(rows, 0.1));
    v.local(0) = 0.125;
    const auto dot = kokkos_dot(rows, 1, 0.125);
    compare(
        "dot", rounds, bytes, [&] { field_sum = dp::parallel_reduce(product{}, u, v); }, "Kokkos",
        [&] { kokkos_sum = dot(); });
  }
  {
    cube u(dp::extents{std::size_t{edge}, std::size_t{edge}, std::size_t{edge}}), v(u.extents());
    const auto exchanged = dp::exchange(u, dp::edge::periodic);
    compare(
        "7 points", rounds, 16.0 * edge * edge * edge, [&] { dp::stencil(v, seven_points{0.1}, exchanged); }, "Kokkos",
        kokkos_seven_points(edge, 0.1));
  }
  // Both sums are exact.
  return field_sum == kokkos_sum ? 0 : 1;
}
