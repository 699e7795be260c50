// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun: microseconds of an all-reduce of floats over the processes, by devplace's engine, which adds in the
// order of the ranks, and by MPI_Allreduce of the same MPI, in the same buffer. Both alternate within a round; the
// median over the rounds is reported. Argument: rounds (default 15).

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <devplace/parallel.hpp>
#include <devplace/parallel/mpi.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;

namespace {

/// Seconds per call, measured over the same number of calls in all processes.
template <class Call>
double time_of(std::size_t calls, const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (std::size_t i = 0; i != calls; ++i)
    call();
  return (now() - begin) / static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
  const dp::mpi_session session{argc, argv};
  const dp::process_group& group = session.processes();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::array<int, 1> cpu{0};
  auto engine = dp::collective::direct{}.connect_across<dp::backend::cpu>(std::span<const int>(cpu), group);
  if (group.is_main()) {
    std::printf("%s\n", group.description().c_str());
    std::printf("%12s %12s %14s %8s\n", "bytes", "devplace us", "MPI_Allreduce", "ratio");
  }
  for (const std::size_t count : {250UL, 2'500UL, 25'000UL, 200'000UL, 2'500'000UL, 25'000'000UL}) {
    std::vector<float> values(count);  // zeros, which stay what they are
    float* const data = values.data();
    const std::size_t calls = std::max<std::size_t>(1, 4'000'000 / count / 4);
    const auto ours = [&] { engine.all_reduce<float>(std::span<float* const>(&data, 1), count, dp::reduction::sum); };
    const auto theirs = [&] {
      MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    ours();
    theirs();
    std::vector<double> by_engine, by_mpi;
    for (int round = 0; round < rounds; ++round) {
      by_engine.push_back(time_of(calls, ours));
      by_mpi.push_back(time_of(calls, theirs));
    }
    if (group.is_main())
      std::printf("%12zu %12.1f %14.1f %8.2f\n", count * sizeof(float), 1e6 * median(by_engine), 1e6 * median(by_mpi),
                  median(by_engine) / median(by_mpi));
  }
}
