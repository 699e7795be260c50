// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of an in-place all-reduce of floats over the processes of mpirun, in four ways: the engine direct, which
// adds in the order of the ranks; the engine mpi, which polls MPI_Iallreduce; MPI_Allreduce; and a persistent
// collective (MPI_Allreduce_init of MPI 4, or Open MPI's MPIX_Allreduce_init), started and waited for. All alternate
// within a round. Reports the median over the rounds, and the share of MPI_Allreduce's time. Argument: rounds (default
// 15).

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <devplace/parallel.hpp>
#include <devplace/parallel/mpi_collectives.hpp>
#include <devplace/process/mpi.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;

namespace {

#if MPI_VERSION >= 4
  #define ALL_REDUCE_INIT MPI_Allreduce_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
  #define ALL_REDUCE_INIT MPIX_Allreduce_init
#endif

/// Returns the seconds per call, measured over an equal number of calls in all processes.
template <class Call> double time_of(std::size_t calls, const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (std::size_t i = 0; i != calls; ++i) call();
  return (now() - begin) / static_cast<double>(calls);
}

/// A persistent all-reduce of a buffer, if the MPI supports it.
class persistent_all_reduce {
 public:
#if defined(ALL_REDUCE_INIT)
  persistent_all_reduce(float* data, std::size_t count) {
    ALL_REDUCE_INIT(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &request_);
  }
  persistent_all_reduce(const persistent_all_reduce&) = delete;
  persistent_all_reduce& operator=(const persistent_all_reduce&) = delete;
  ~persistent_all_reduce() { MPI_Request_free(&request_); }
  void operator()() {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  static constexpr bool exists = true;

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
#else
  persistent_all_reduce(float*, std::size_t) {}
  void operator()() {}
  static constexpr bool exists = false;
#endif
};

}  // namespace

int main(int argc, char** argv) {
  const dp::mpi_session session{argc, argv};
  const dp::process_group& group = session.processes();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::array<int, 1> cpu{0};
  auto direct = dp::collective::direct{}.connect_across<dp::backend::cpu>(std::span<const int>(cpu), group);
  auto mpi = dp::collective::mpi{}.connect_across<dp::backend::cpu>(std::span<const int>(cpu), group);
  if (group.is_main()) {
    std::printf("%s\n", group.description().c_str());
    std::printf("%12s %12s %8s %12s %8s %14s %12s %8s\n", "bytes", "direct us", "ratio", "mpi us", "ratio",
                "MPI_Allreduce", "persistent", "ratio");
  }
  for (const std::size_t count : {250UL, 2'500UL, 25'000UL, 200'000UL, 2'500'000UL, 25'000'000UL}) {
    std::vector<float> values(count);  // zeros, which stay zero
    float* const data = values.data();
    const std::span<float* const> buffer(&data, 1);
    const std::size_t calls = std::max<std::size_t>(1, 4'000'000 / count / 4);
    const auto by_direct = [&] { direct.all_reduce<float>(buffer, count, dp::reduction::sum); };
    const auto by_mpi = [&] { mpi.all_reduce<float>(buffer, count, dp::reduction::sum); };
    const auto by_itself = [&] {
      MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    persistent_all_reduce persistent(data, count);
    by_direct();
    by_mpi();
    by_itself();
    persistent();
    std::array<std::vector<double>, 4> times;
    for (int round = 0; round < rounds; ++round) {
      times[0].push_back(time_of(calls, by_direct));
      times[1].push_back(time_of(calls, by_mpi));
      times[2].push_back(time_of(calls, by_itself));
      if (persistent_all_reduce::exists) times[3].push_back(time_of(calls, [&] { persistent(); }));
    }
    if (!group.is_main()) continue;
    const double itself = median(times[2]);
    std::printf("%12zu %12.1f %8.2f %12.1f %8.2f %14.1f", count * sizeof(float), 1e6 * median(times[0]),
                median(times[0]) / itself, 1e6 * median(times[1]), median(times[1]) / itself, 1e6 * itself);
    if (persistent_all_reduce::exists)
      std::printf(" %12.1f %8.2f\n", 1e6 * median(times[3]), median(times[3]) / itself);
    else
      std::printf(" %12s\n", "none");
  }
}
