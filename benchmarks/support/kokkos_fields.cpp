// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/kokkos_fields.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>

namespace devplace::bench {

namespace {

using space = Kokkos::DefaultHostExecutionSpace;
using policy = Kokkos::TeamPolicy<space>;
using member = policy::member_type;
using matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using box = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

matrix filled(const std::string& name, int n, double value) {
  matrix all(name, static_cast<std::size_t>(n + 2), static_cast<std::size_t>(n + 2));
  Kokkos::deep_copy(all, value);
  return all;
}

}  // namespace

kokkos_scope::kokkos_scope(int& argc, char** argv) { Kokkos::initialize(argc, argv); }
kokkos_scope::~kokkos_scope() { Kokkos::finalize(); }
const char* kokkos_scope::name() const { return space::name(); }
int kokkos_scope::threads() const { return static_cast<int>(space().concurrency()); }

// In OpenMP's space a team of one thread for each row is faster than tiles of an MDRangePolicy.
std::function<void()> kokkos_five_points(int n, double r) {
  return [n, r, u = filled("u", n, 1), v = filled("v", n, 0)] {
    Kokkos::parallel_for(policy(n, 1), [=](const member& team) {
      const int i = team.league_rank() + 1;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int at) {
        const int j = at + 1;
        v(i, j) = u(i, j) + r * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
      });
    });
    Kokkos::fence();
  };
}

std::function<void()> kokkos_seven_points(int n, double r) {
  const auto width = static_cast<std::size_t>(n + 2);
  return [n, r, u = box("u", width, width, width), v = box("v", width, width, width)] {
    Kokkos::parallel_for(policy(n * n, 1), [=](const member& team) {
      const int i = team.league_rank() / n + 1, j = team.league_rank() % n + 1;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int at) {
        const int k = at + 1;
        v(i, j, k) = u(i, j, k) + r * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) +
                                       u(i, j, k - 1) + u(i, j, k + 1) - 6 * u(i, j, k));
      });
    });
    Kokkos::fence();
  };
}

std::function<double()> kokkos_dot(int n, double x, double y) {
  return [n, a = filled("x", n, x), b = filled("y", n, y)] {
    double sum = 0;
    Kokkos::parallel_reduce(
        policy(n, 1),
        [=](const member& team, double& of_thread) {
          const int i = team.league_rank() + 1;
          double of_row = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, n), [&](int at, double& part) { part += a(i, at + 1) * b(i, at + 1); },
              of_row);
          of_thread += of_row;
        },
        sum);
    return sum;
  };
}

}  // namespace devplace::bench
