// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <random>
#include <vector>

#include "solver.hpp"
#include "surrogate.hpp"

/// Fluxes for a coarse grid that a surrogate has learned from a fine one, in place of the solver's. A flux leaves one
/// cell and enters another, so the mass is conserved however well it has learned.
class flux_closure {
 public:
  /// The grids are divided among the same ranks.
  explicit flux_closure(const solver& coarse);

  /// Keeps a sample of each face: from the field of `coarse`, whose halo is filled, and from what has passed the faces
  /// in the fine grid since then, in a time step of `coarse`.
  void record(const solver& coarse, const solver& fine);
  /// Steps of the training. Which samples they take does not depend on the number of ranks.
  void train(int steps);
  /// Mean square error of these steps, in the units of the network.
  double mean_error() { return learned_.mean_error(); }

  /// To be called when the training has ended.
  void deploy() { learned_.deploy(2 * nx_ * ny_); }
  /// A step in place of coarse.step().
  void step(solver& coarse);
  long allocations() const { return learned_.allocations(); }

 private:
  surrogate learned_;
  int n_, nx_, ny_, x0_, y0_;
  std::vector<float> x_, y_;              ///< recorded samples, step by step
  std::vector<float> batch_x_, batch_y_;  ///< of one step of the training
  std::vector<float> now_x_, now_y_;      ///< of the present time step
  std::vector<double> units_;
  int recorded_ = 0;
  std::mt19937 draw_{1};  ///< the same numbers on all ranks
};
