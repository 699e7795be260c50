// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of an exchange of ghost rows between the processes of mpirun, of a plate split along its rows:
// exchange() in the group of mpi_session, which sends by shared memory between up to 8 processes of a host; exchange()
// in a group that is not watched, which sends by MPI; and MPI_Irecv, MPI_Isend and MPI_Waitall by hand. All alternate
// within a round. Reports medians over the rounds. Argument: rounds (default 15).

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <devplace/core.hpp>
#include <devplace/fields.hpp>
#include <devplace/process/mpi.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;

namespace {

using plate = dp::field<double, dp::dextents<2>, dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>, dp::halo<1>>;

/// Returns the seconds per call, measured over an equal number of calls in all processes.
template <class Call> double time_of(std::size_t calls, const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (std::size_t i = 0; i != calls; ++i) call();
  return (now() - begin) / static_cast<double>(calls);
}

/// Exchanges the first and last rows with the neighbours by MPI. `rows` has one ghost row before and one after its own
/// rows, and lies in memory of the kind that fields have.
void exchange_by_hand(dp::tensor<double, dp::dextents<1>, dp::cpu>& rows, std::size_t columns, int rank, int size) {
  const int above = (rank + size - 1) % size, below = (rank + 1) % size, count = static_cast<int>(columns);
  double* const at = rows.data();
  double* const last = at + rows.size() - columns;
  MPI_Request requests[4];
  MPI_Irecv(at, count, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(last, count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(last - columns, count, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(at + columns, count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const dp::mpi_session session{argc, argv};
  const dp::process_group& watched = session.processes();
  const dp::process_group by_mpi = dp::mpi_processes(MPI_COMM_WORLD, {.heartbeat = 0});
  for (const std::size_t columns : {64U, 1024U, 8192U, 65'536U, 1'048'576U}) {
    const std::size_t rows = 4, calls = columns < 10'000 ? 2000 : columns < 100'000 ? 200 : 20;
    const dp::extents sizes{rows * static_cast<std::size_t>(by_mpi.size()), columns};
    const auto make = [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      return plate(sizes);
    };
    plate x = make(watched), y = make(by_mpi);
    dp::tensor<double, dp::dextents<1>, dp::cpu> by_hand(dp::extents{(rows + 2) * columns});
    by_hand = 1;  // memory that was never written is one page, which is read from the cache
    std::vector<double> seconds[3];
    for (int round = 0; round != rounds; ++round) {
      seconds[0].push_back(time_of(calls, [&] { static_cast<void>(dp::exchange(x, dp::edge::periodic)); }));
      seconds[1].push_back(time_of(calls, [&] { static_cast<void>(dp::exchange(y, dp::edge::periodic)); }));
      seconds[2].push_back(time_of(calls, [&] { exchange_by_hand(by_hand, columns, by_mpi.rank(), by_mpi.size()); }));
    }
    const double session_s = median(seconds[0]), mpi_s = median(seconds[1]), hand_s = median(seconds[2]);
    if (session.processes().is_main())
      std::printf(
          "%8zu bytes: exchange in mpi_session %8.2f us, not watched %8.2f us, by hand %8.2f us, ratios %.2f, %.2f\n",
          columns * sizeof(double), 1e6 * session_s, 1e6 * mpi_s, 1e6 * hand_s, hand_s / session_s, hand_s / mpi_s);
  }
}
