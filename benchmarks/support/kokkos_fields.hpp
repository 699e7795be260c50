// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

// Loops of Kokkos, compiled with settings of their own.
namespace devplace::bench {

/// Kokkos from its start to its end. It reads its own arguments.
class kokkos_scope {
 public:
  kokkos_scope(int& argc, char** argv);
  ~kokkos_scope();
  kokkos_scope(const kokkos_scope&) = delete;
  kokkos_scope& operator=(const kokkos_scope&) = delete;
  /// Returns the name of the default execution space of the host.
  const char* name() const;
  /// Returns its number of threads.
  int threads() const;
};

/// Make arrays of n cells along each axis and ghosts around them, and return a loop over them.
std::function<void()> kokkos_five_points(int n, double r);
std::function<void()> kokkos_seven_points(int n, double r);
std::function<double()> kokkos_dot(int n, double x, double y);

}  // namespace devplace::bench
