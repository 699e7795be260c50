// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <random>
#include <vector>

#include "solver.hpp"
#include "surrogate.hpp"

/// Replaces the solver's fluxes on a coarse grid by fluxes that a surrogate learns from a fine grid. A flux leaves one
/// cell and enters another, so mass is conserved even if the fluxes are inaccurate.
class flux_closure {
 public:
  /// Both grids must be divided among the same ranks.
  explicit flux_closure(const solver& coarse);

  /// Records a sample of each face: the field of `coarse`, whose halo must be filled, and the amount that has passed
  /// the face in the fine grid during one time step of `coarse`.
  void record(const solver& coarse, const solver& fine);
  /// Trains for some steps. The choice of samples does not depend on the number of ranks.
  void train(int steps);
  /// Mean square error of these steps, in the network's units.
  double mean_error() { return learned_.mean_error(); }

  /// Call this after the training.
  void deploy() { learned_.deploy(2 * nx_ * ny_); }
  /// Replaces coarse.step().
  void step(solver& coarse);
  long allocations() const { return learned_.allocations(); }

 private:
  surrogate learned_;
  int n_, nx_, ny_, x0_, y0_;
  std::vector<float> x_, y_;              ///< recorded samples, step by step
  std::vector<float> batch_x_, batch_y_;  ///< samples of one training step
  std::vector<float> now_x_, now_y_;      ///< samples of the current time step
  std::vector<double> units_;
  int recorded_ = 0;
  std::mt19937 draw_{1};  ///< the same numbers on all ranks
};
