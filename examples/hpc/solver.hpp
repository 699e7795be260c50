// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <vector>

/// The cells of this rank: a rectangle of the n x n cells of the periodic unit square. A field of doubles has two halo
/// layers around them.
struct domain {
  static constexpr int halo = 2;

  domain(MPI_Comm ranks, int n);
  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;
  ~domain();

  MPI_Comm comm;                 ///< made by MPI_Cart_create
  int n;                         ///< cells per side of the whole square
  int nx, ny, x0, y0;            ///< number of this rank's cells, and indices of the first cell
  int west, east, south, north;  ///< ranks of the neighbours
  int stride;                    ///< between rows of cells: nx and the halo
  MPI_Datatype columns, rows;    ///< types of the halo layers

  double h() const { return 1.0 / n; }
  int field_size() const { return stride * (ny + 2 * halo); }
  /// Own cells have 0 <= i < nx and 0 <= j < ny.
  int cell(int i, int j) const { return (j + halo) * stride + i + halo; }
  /// Fills the halo, including the corners.
  void exchange(double* field) const;
  /// The sum over all ranks.
  double sum(double own) const;
};

/// Solves advection and diffusion of a concentration in a given flow, du/dt + div(a u) = nu laplace(u), by finite
/// volumes: MUSCL fluxes with van Leer's limiter, and Heun's method. `u` has cell averages; velocities and fluxes are
/// face averages.
struct solver {
  static constexpr double viscosity = 5e-4;

  solver(MPI_Comm ranks, int n, double dt);

  domain cells;
  double dt;

 private:
  std::vector<double> memory_;

 public:
  double* u;
  double *ax, *ay;  ///< velocity through the west and the south face of each cell
  double *fx, *fy;  ///< flux through these faces
  /// Flux registers: the amount that has passed each face since the last reset.
  double *through_x, *through_y;

  void start_with_blobs(double shift);
  void clear_registers();
  void step();
  /// An Euler step from the field `from` with the current fluxes.
  void advance(double* to, const double* from) const;
  double mass() const;

 private:
  double* stage_;
  void compute_fluxes(const double* field);
};

/// Averages a fine field over the cells of a coarser grid.
void restrict_to(const domain& coarse, double* to, const domain& fine, const double* from);

/// The root mean square of a - b, divided by the root mean square of b - mean(b).
double relative_error(const domain& cells, const double* a, const double* b);
