// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <memory>

/// A function that a network learns from samples of all ranks, as the solver sees it: plain arrays of the host, row by
/// row. Only surrogate.cpp includes devplace.
class surrogate {
 public:
  static constexpr int inputs = 16;

  /// All ranks of the solver's communicator make it together. It sends messages of its own beside the solver's.
  explicit surrogate(MPI_Comm solver_comm);
  surrogate(const surrogate&) = delete;
  surrogate& operator=(const surrogate&) = delete;
  ~surrogate();

  /// One step of the training, by all ranks together, of which each may have another number of rows.
  void learn(const float* x, const float* y, int rows);
  /// The mean square error of the rows that all ranks have learned from since the last call.
  double mean_error();

  /// Takes the parameters over for `evaluate`, of up to `rows` rows at a time.
  void deploy(int rows);
  /// y of each row; each rank calls it for itself. Does not allocate after its first call.
  void evaluate(float* y, const float* x, int rows) const;
  /// Number of allocations on the device so far.
  long allocations() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
