// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of an all-reduce (sum, in place) of float buffers of 1 KB to 100 MB between processes of this host by
// shared memory. The floor next to it is the time in which these processes copy as many bytes, each between two buffers
// of its own. Reports medians over the rounds, of the slowest process. Arguments: processes (default 2), rounds
// (default 9), bytes of a portion (default: the transport's), only this many bytes (default: all sizes).

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devplace/base/thread_team.hpp>
#include <devplace/parallel/across_processes.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/shared_memory_transport.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;

namespace {

/// A rendezvous of the processes before they are connected, in memory shared by fork().
struct meeting_point {
  static constexpr std::size_t most_bytes = 256;
  std::atomic<std::size_t> arrived;
  alignas(64) std::byte messages[64][most_bytes];
};

struct all_gather {
  meeting_point* at;
  std::size_t rank, processes, meetings = 0;

  void meet() {
    ++meetings;
    at->arrived.fetch_add(1);
    while (at->arrived.load() < meetings * processes) std::this_thread::yield();
  }
  void operator()(const void* own, std::size_t bytes, void* all) {
    std::memcpy(at->messages[rank], own, bytes);
    meet();
    for (std::size_t r = 0; r != processes; ++r)
      std::memcpy(static_cast<std::byte*>(all) + r * bytes, at->messages[r], bytes);
    meet();
  }
};

/// Returns the seconds per call in the slowest process: the median over the rounds.
template <class Call> double time_of(const dp::process_group& group, int rounds, std::size_t calls, const Call& call) {
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    group.barrier();
    const double begin = now();
    for (std::size_t i = 0; i != calls; ++i) call();
    const double slowest = group.all_reduce((now() - begin) / static_cast<double>(calls), dp::reduction::max);
    if (round != 0) times.push_back(slowest);
  }
  return median(times);
}

void measure(const dp::process_group& group, int rounds, std::size_t only) {
  if (group.is_main())
    std::printf("%d processes, portions of %zu KiB\n%12s %12s %12s %8s\n", group.size(),
                group.transport()->portion() / 1024, "bytes", "us", "copy, us", "GB/s");
  const std::vector<int> places{0};
  dp::parallel::across_processes<dp::backend::cpu, dp::parallel::summation::by_rank> engine(places, group);
  for (const std::size_t bytes : {1'000UL, 4'000UL, 16'000UL, 64'000UL, 256'000UL, 800'000UL, 3'000'000UL, 10'000'000UL,
                                  30'000'000UL, 100'000'000UL}) {
    if (only != 0 && bytes != only) continue;
    std::vector<float> values(bytes / sizeof(float), 1), copied(values.size());
    float* const buffer = values.data();
    const auto all_reduce = [&] { engine.all_reduce<float>(std::span(&buffer, 1), values.size(), dp::reduction::sum); };
    all_reduce();
    for (const float value : values)
      if (value != static_cast<float>(group.size())) {
        std::printf("wrong sum\n");
        ::_exit(1);
      }
    std::fill(values.begin(), values.end(), 0.0F);  // so that further sums stay finite
    const std::size_t calls = bytes < 20'000'000 ? 20'000'000 / (bytes + 20'000) + 1 : 1;
    const double copy = time_of(group, rounds, calls, [&] { std::memcpy(copied.data(), values.data(), bytes); });
    const double reduce = time_of(group, rounds, calls, all_reduce);
    if (group.is_main())
      std::printf("%12zu %12.2f %12.2f %8.2f\n", bytes, reduce * 1e6, copy * 1e6,
                  static_cast<double>(bytes) / reduce * 1e-9);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const std::size_t portion = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  const std::size_t only = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0;
  if (processes < 1 || processes > 64 || rounds < 1) return std::puts("arguments: processes (1 to 64), rounds"), 2;
  void* const memory =
      ::mmap(nullptr, sizeof(meeting_point), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* const meeting = ::new (memory) meeting_point{};
  dp::set_thread_count(1);
  int rank = 0, failed = 0;
  while (rank + 1 < processes && ::fork() == 0) ++rank;  // each process starts the next one
  try {
    const auto connected = dp::parallel::shared_memory_transport::connect(
        {rank, processes, rank, processes},
        all_gather{meeting, static_cast<std::size_t>(rank), static_cast<std::size_t>(processes)}, nullptr, portion);
    measure(dp::process_group(connected), rounds, only);
  } catch (const dp::error& failure) {
    std::fprintf(stderr, "rank %d: %s\n", rank, failure.what());
    failed = 1;
  }
  int status = 0;
  if (rank + 1 < processes) ::wait(&status);
  return failed + (status != 0 ? 1 : 0);
}
