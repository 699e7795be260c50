// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun: the ranks of docs/beside_a_solver.md, which average gradients by calling MPI_Allreduce.

#include <mpi.h>

#define main example_without_mpi
#include "../../examples/beside_a_solver.cpp"
#undef main

#include "mpi/check.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  devplace::test::run_rank([] {
    dp::set_thread_count(1);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto sum_over_ranks = [](float* data, std::size_t count) {
      MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    const auto model = train(rank, ranks, sum_over_ranks);

    double worst = 0;
    for (float temperature = 0.1F; temperature < 1; temperature += 0.1F) {
      const auto at = dp::full<float, dp::cpu>(dp::extents<1, 2>{}, temperature);
      const auto reaction = model.predict(at);
      worst = std::max(worst, std::abs(double{reaction(0, 0)} - double{reaction_of(temperature, temperature)}));
      float of_first = reaction(0, 0);
      MPI_Bcast(&of_first, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
      EXPECT(reaction(0, 0) == of_first);
    }
    EXPECT(worst < 0.05);
    MPI_Finalize();
  });
}
