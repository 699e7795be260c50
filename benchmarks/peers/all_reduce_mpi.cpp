// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of MPI_Allreduce (sum, in place) of float buffers, measured as bench_parallel_all_reduce_processes
// measures devplace's. all_reduce.py compiles and runs it. Argument: rounds.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  for (const std::size_t bytes : {1'000UL, 4'000UL, 16'000UL, 64'000UL, 256'000UL, 800'000UL, 3'000'000UL, 10'000'000UL,
                                  30'000'000UL, 100'000'000UL}) {
    std::vector<float> values(bytes / sizeof(float));
    const std::size_t calls = bytes < 20'000'000 ? 20'000'000 / (bytes + 20'000) + 1 : 1;
    std::vector<double> times;
    for (int round = 0; round <= rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      for (std::size_t i = 0; i != calls; ++i)
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      double slowest = (MPI_Wtime() - begin) / static_cast<double>(calls);
      MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round != 0) times.push_back(slowest);
    }
    std::sort(times.begin(), times.end());
    if (rank == 0) std::printf("%12zu %12.2f\n", bytes, times[times.size() / 2] * 1e6);
  }
  MPI_Finalize();
}
