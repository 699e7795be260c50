// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An MPI code without a network.

#include "solver.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>

namespace {

constexpr double pi = 3.14159265358979323846;

/// A drift and eddies. Differences along faces are divergence-free velocities.
double stream_function(double x, double y) {
  return 0.3 * y - 0.15 * x + 0.12 * std::sin(2 * pi * x) * std::sin(2 * pi * y) +
         0.05 * std::cos(4 * pi * x + 1) * std::sin(2 * pi * y + 2);
}

double blob(double x, double y, double width) {
  const double dx = std::remainder(x, 1.0), dy = std::remainder(y, 1.0);
  return std::exp(-(dx * dx + dy * dy) / (width * width));
}

/// The value at a face, from the two cells upstream (`before` is farther away) and the cell downstream.
double limited(double before, double upstream, double downstream) {
  const double a = upstream - before, b = downstream - upstream, product = a * b;
  return product > 0 ? upstream + product / (a + b) : upstream;
}

/// The flux through the face between `at` and the cell before it; `next` is the stride between neighbours.
double muscl_flux(const double* at, int next, double velocity, double nu_over_h) {
  const double left = at[-next], right = at[0];
  const double value = velocity > 0 ? limited(at[-2 * next], left, right) : limited(at[next], right, left);
  return velocity * value - nu_over_h * (right - left);
}

}  // namespace

domain::domain(MPI_Comm ranks, int cells_per_side) : n(cells_per_side) {
  int count = 0, rank = 0, dims[2] = {0, 0}, at[2];
  const int periodic[2] = {1, 1};
  MPI_Comm_size(ranks, &count);
  MPI_Dims_create(count, 2, dims);
  MPI_Cart_create(ranks, 2, dims, periodic, 0, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Cart_coords(comm, rank, 2, at);
  nx = n / dims[0];
  ny = n / dims[1];
  if (nx * dims[0] != n || ny * dims[1] != n || nx < 2 * halo || ny < 2 * halo) {
    std::fprintf(stderr, "%d x %d cells cannot be divided among %d x %d ranks\n", n, n, dims[0], dims[1]);
    MPI_Abort(comm, 2);
  }
  x0 = at[0] * nx;
  y0 = at[1] * ny;
  stride = nx + 2 * halo;
  MPI_Cart_shift(comm, 0, 1, &west, &east);
  MPI_Cart_shift(comm, 1, 1, &south, &north);
  MPI_Type_vector(ny, halo, stride, MPI_DOUBLE, &columns);
  MPI_Type_contiguous(halo * stride, MPI_DOUBLE, &rows);
  MPI_Type_commit(&columns);
  MPI_Type_commit(&rows);
}

domain::~domain() {
  MPI_Type_free(&columns);
  MPI_Type_free(&rows);
  MPI_Comm_free(&comm);
}

void domain::exchange(double* field) const {
  const auto swap = [&](MPI_Datatype layers, int before, int to_before, int after, int to_after, int own[2]) {
    MPI_Request messages[4];
    MPI_Irecv(field + to_before, 1, layers, before, 0, comm, &messages[0]);
    MPI_Irecv(field + to_after, 1, layers, after, 1, comm, &messages[1]);
    MPI_Isend(field + own[1], 1, layers, after, 0, comm, &messages[2]);
    MPI_Isend(field + own[0], 1, layers, before, 1, comm, &messages[3]);
    MPI_Waitall(4, messages, MPI_STATUSES_IGNORE);
  };
  int of_columns[2] = {cell(0, 0), cell(nx - halo, 0)};
  swap(columns, west, cell(-halo, 0), east, cell(nx, 0), of_columns);
  int of_rows[2] = {cell(-halo, 0), cell(-halo, ny - halo)};  // including the columns' halo
  swap(rows, south, cell(-halo, -halo), north, cell(-halo, ny), of_rows);
}

double domain::sum(double own) const {
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  return all;
}

solver::solver(MPI_Comm ranks, int n, double time_step)
    : cells(ranks, n), dt(time_step), memory_(8 * static_cast<std::size_t>(cells.field_size())) {
  double* next = memory_.data();
  for (double** field : {&u, &ax, &ay, &fx, &fy, &through_x, &through_y, &stage_}) {
    *field = next;
    next += cells.field_size();
  }
  const double h = cells.h();
  for (int j = -domain::halo; j < cells.ny + domain::halo; ++j)
    for (int i = -domain::halo; i < cells.nx + domain::halo; ++i) {
      const double x = h * (cells.x0 + i), y = h * (cells.y0 + j);
      ax[cells.cell(i, j)] = (stream_function(x, y + h) - stream_function(x, y)) / h;
      ay[cells.cell(i, j)] = (stream_function(x, y) - stream_function(x + h, y)) / h;
    }
}

void solver::start_with_blobs(double shift) {
  const double h = cells.h();
  for (int j = 0; j < cells.ny; ++j)
    for (int i = 0; i < cells.nx; ++i) {
      const double x = h * (cells.x0 + i + 0.5) - shift, y = h * (cells.y0 + j + 0.5) + shift / 2;
      u[cells.cell(i, j)] =
          blob(x - 0.3, y - 0.3, 0.1) + 0.8 * blob(x - 0.7, y - 0.6, 0.15) - 0.6 * blob(x - 0.25, y - 0.75, 0.12);
    }
}

void solver::clear_registers() {
  for (int c = 0; c < cells.field_size(); ++c) through_x[c] = through_y[c] = 0;
}

void solver::compute_fluxes(const double* field) {
  const double nu_over_h = viscosity / cells.h();
  for (int j = 0; j <= cells.ny; ++j)
    for (int c = cells.cell(0, j), end = c + cells.nx; c <= end; ++c) {
      fx[c] = muscl_flux(field + c, 1, ax[c], nu_over_h);
      fy[c] = muscl_flux(field + c, cells.stride, ay[c], nu_over_h);
      through_x[c] += dt / 2 * fx[c];
      through_y[c] += dt / 2 * fy[c];
    }
}

void solver::advance(double* to, const double* from) const {
  const double dt_over_h = dt / cells.h();
  for (int j = 0; j < cells.ny; ++j)
    for (int c = cells.cell(0, j), end = c + cells.nx; c < end; ++c)
      to[c] = from[c] - dt_over_h * (fx[c + 1] - fx[c] + fy[c + cells.stride] - fy[c]);
}

void solver::step() {
  cells.exchange(u);
  compute_fluxes(u);
  advance(stage_, u);
  cells.exchange(stage_);
  compute_fluxes(stage_);
  advance(stage_, stage_);
  for (int c = 0; c < cells.field_size(); ++c) u[c] = (u[c] + stage_[c]) / 2;
}

double solver::mass() const {
  double own = 0;
  for (int j = 0; j < cells.ny; ++j)
    for (int c = cells.cell(0, j), end = c + cells.nx; c < end; ++c) own += u[c];
  return cells.sum(own) * cells.h() * cells.h();
}

void restrict_to(const domain& coarse, double* to, const domain& fine, const double* from) {
  const int ratio = fine.n / coarse.n;
  for (int j = 0; j < coarse.ny; ++j)
    for (int i = 0; i < coarse.nx; ++i) {
      double sum = 0;
      for (int b = 0; b < ratio; ++b)
        for (int a = 0; a < ratio; ++a) sum += from[fine.cell(ratio * i + a, ratio * j + b)];
      to[coarse.cell(i, j)] = sum / (ratio * ratio);
    }
}

double relative_error(const domain& cells, const double* a, const double* b) {
  double difference = 0, sum = 0, squares = 0;
  for (int j = 0; j < cells.ny; ++j)
    for (int c = cells.cell(0, j), end = c + cells.nx; c < end; ++c) {
      difference += (a[c] - b[c]) * (a[c] - b[c]);
      sum += b[c];
      squares += b[c] * b[c];
    }
  const double mean = cells.sum(sum) / cells.n / cells.n;
  return std::sqrt(cells.sum(difference) / (cells.sum(squares) - mean * mean * cells.n * cells.n));
}
