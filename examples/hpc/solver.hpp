// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <vector>

/// The cells of this rank: a rectangle of the n x n cells of the unit square, which is periodic. A field of doubles has
/// two layers of halo around them.
struct domain {
  static constexpr int halo = 2;

  domain(MPI_Comm ranks, int n);
  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;
  ~domain();

  MPI_Comm comm;                 ///< of MPI_Cart_create
  int n;                         ///< cells per side of the whole square
  int nx, ny, x0, y0;            ///< cells of this rank, and the first of them
  int west, east, south, north;  ///< neighbours
  int stride;                    ///< from one row of cells to the next one: nx and the halo
  MPI_Datatype columns, rows;    ///< halo layers

  double h() const { return 1.0 / n; }
  int field_size() const { return stride * (ny + 2 * halo); }
  /// Own cells have 0 <= i < nx and 0 <= j < ny.
  int cell(int i, int j) const { return (j + halo) * stride + i + halo; }
  /// Fills the halo, with its corners.
  void exchange(double* field) const;
  /// Over all ranks.
  double sum(double own) const;
};

/// Advection and diffusion of a concentration in a given flow, du/dt + div(a u) = nu laplace(u), by finite volumes:
/// fluxes by MUSCL with van Leer's limiter, and Heun's method. `u` has means over cells, velocities and fluxes are
/// means over faces.
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
  /// Flux registers: what has passed the faces since they were cleared.
  double *through_x, *through_y;

  void start_with_blobs(double shift);
  void clear_registers();
  void step();
  /// Euler's step from the field `from` with the fluxes that are there.
  void advance(double* to, const double* from) const;
  double mass() const;

 private:
  double* stage_;
  void compute_fluxes(const double* field);
};

/// Means over the cells of a grid with a multiple of the width.
void restrict_to(const domain& coarse, double* to, const domain& fine, const double* from);

/// Root of the mean square of a - b, divided by that of b - mean(b).
double relative_error(const domain& cells, const double* a, const double* b);
