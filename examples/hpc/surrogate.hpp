// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <memory>

/// The solver's interface to a function that a network learns from samples of all ranks: plain row-major host arrays.
/// Only surrogate.cpp includes devplace.
class surrogate {
 public:
  static constexpr int inputs = 16;

  /// Collective over the solver's communicator. The surrogate's messages do not interfere with the solver's.
  explicit surrogate(MPI_Comm solver_comm);
  surrogate(const surrogate&) = delete;
  surrogate& operator=(const surrogate&) = delete;
  ~surrogate();

  /// Runs one training step. Collective; each rank may have a different number of rows.
  void learn(const float* x, const float* y, int rows);
  /// The mean square error over all ranks' rows since the last call.
  double mean_error();

  /// Copies the parameters for `evaluate`, for at most `rows` rows per call.
  void deploy(int rows);
  /// Computes y of each row. Not collective. Does not allocate after the first call.
  void evaluate(float* y, const float* x, int rows) const;
  /// The number of allocations on the device so far.
  long allocations() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
