// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "closure.hpp"

#include <cmath>
#include <cstddef>

namespace {

/// Calls f(i, j, face, normal) for the west and south face of each own cell. `normal` is 0 for x.
template <class F> void for_each_face(const domain& cells, const F& f) {
  for (int j = 0; j < cells.ny; ++j)
    for (int i = 0; i < cells.nx; ++i)
      for (int normal = 0; normal < 2; ++normal) f(i, j, cells.cell(i, j), normal);
}

/// The Lax-Wendroff flux along the normal, to which the network adds a correction.
double simple_flux(const solver& s, int face, int normal) {
  const double a = normal == 0 ? s.ax[face] : s.ay[face], h = s.cells.h();
  const double left = s.u[face - (normal == 0 ? 1 : s.cells.stride)], right = s.u[face];
  return a * (left + right) / 2 - (a * a * s.dt / (2 * h) + solver::viscosity / h) * (right - left);
}

/// Writes the network's inputs: 4 x 3 cells around the face, and velocities. Returns the unit of the network's output.
///
/// The equation is linear, and a mirrored field has the mirrored flux. To spare the network from learning this, the
/// field is mirrored so that the flow goes right and up, and its differences are normalised by their size.
double pack(float* row, const solver& s, int face, int normal) {
  const double* const across = normal == 0 ? s.ax : s.ay;
  const double* const tangential = normal == 0 ? s.ay : s.ax;
  int next = normal == 0 ? 1 : s.cells.stride, up = normal == 0 ? s.cells.stride : 1;
  const double along =
      (tangential[face] + tangential[face - next] + tangential[face + up] + tangential[face - next + up]) / 4;
  const double mean = (s.u[face - next] + s.u[face]) / 2;
  const double direction = across[face] < 0 ? -1 : 1;
  const int first = across[face] < 0 ? face : face - next;  // the cell upstream of the face
  if (across[face] < 0) next = -next;
  if (along < 0) up = -up;

  double differences[12], squares = 1e-6;
  for (int k = 0; k < 12; ++k) {
    differences[k] = s.u[first + (k / 3 - 1) * next + (k % 3 - 1) * up] - mean;
    squares += differences[k] * differences[k];
  }
  const double size = std::sqrt(squares / 12) * (differences[7] < differences[4] ? -1 : 1);
  for (int k = 0; k < 12; ++k) row[k] = static_cast<float>(differences[k] / size);
  for (int k = 0; k < 3; ++k) row[12 + k] = static_cast<float>(direction * across[face + (k - 1) * up]);
  row[15] = static_cast<float>(std::abs(along));
  return direction * size / 4;
}
static_assert(surrogate::inputs == 16);

}  // namespace

flux_closure::flux_closure(const solver& coarse)
    : learned_(coarse.cells.comm),
      n_(coarse.cells.n),
      nx_(coarse.cells.nx),
      ny_(coarse.cells.ny),
      x0_(coarse.cells.x0),
      y0_(coarse.cells.y0),
      now_x_(static_cast<std::size_t>(2 * nx_ * ny_ * surrogate::inputs)),
      now_y_(static_cast<std::size_t>(2 * nx_ * ny_)),
      units_(static_cast<std::size_t>(2 * nx_ * ny_)) {}

void flux_closure::record(const solver& coarse, const solver& fine) {
  const int ratio = fine.cells.n / coarse.cells.n;
  for_each_face(coarse.cells, [&](int i, int j, int face, int normal) {
    const double* const through = normal == 0 ? fine.through_x : fine.through_y;
    const int up = normal == 0 ? fine.cells.stride : 1;
    double passed = 0;
    for (int k = 0; k < ratio; ++k) passed += through[fine.cells.cell(ratio * i, ratio * j) + k * up];
    float row[surrogate::inputs];
    const double unit = pack(row, coarse, face, normal);
    x_.insert(x_.end(), row, row + surrogate::inputs);
    y_.push_back(static_cast<float>((passed / ratio / coarse.dt - simple_flux(coarse, face, normal)) / unit));
  });
  ++recorded_;
}

void flux_closure::train(int steps) {
  for (int step = 0; step < steps; ++step) {
    batch_x_.clear();
    batch_y_.clear();
    for (int sample = 0; sample < 512; ++sample) {
      const auto below = [&](int end) { return static_cast<int>(draw_() % static_cast<unsigned>(end)); };
      const int time = below(recorded_), i = below(n_) - x0_, j = below(n_) - y0_, normal = below(2);
      if (i < 0 || i >= nx_ || j < 0 || j >= ny_) continue;  // a cell of another rank
      const auto at = ((static_cast<std::size_t>(time) * static_cast<std::size_t>(ny_) + static_cast<std::size_t>(j)) *
                           static_cast<std::size_t>(nx_) +
                       static_cast<std::size_t>(i)) *
                          2 +
                      static_cast<std::size_t>(normal);
      const float* const row = x_.data() + surrogate::inputs * at;
      batch_x_.insert(batch_x_.end(), row, row + surrogate::inputs);
      batch_y_.push_back(y_[at]);
    }
    learned_.learn(batch_x_.data(), batch_y_.data(), static_cast<int>(batch_y_.size()));
  }
}

void flux_closure::step(solver& coarse) {
  coarse.cells.exchange(coarse.u);
  float* row = now_x_.data();
  double* unit = units_.data();
  for_each_face(coarse.cells, [&](int, int, int face, int normal) {
    *unit++ = pack(row, coarse, face, normal);
    row += surrogate::inputs;
  });
  learned_.evaluate(now_y_.data(), now_x_.data(), 2 * nx_ * ny_);
  const float* more = now_y_.data();
  unit = units_.data();
  for_each_face(coarse.cells, [&](int, int, int face, int normal) {
    (normal == 0 ? coarse.fx : coarse.fy)[face] = simple_flux(coarse, face, normal) + *unit++ * double{*more++};
  });
  coarse.cells.exchange(coarse.fx);  // each face is computed by one rank, so that both sides have the same bits
  coarse.cells.exchange(coarse.fy);
  coarse.advance(coarse.u, coarse.u);
}
