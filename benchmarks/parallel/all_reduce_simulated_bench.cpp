// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Milliseconds of an all-reduce between simulated devices with both engines, next to a lower bound measured in the same
// run: the time to read and write n buffers once, in place, with all cores. Engines and bound alternate within a round,
// and the median over the rounds is reported. Argument: rounds (default 9).

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using dp::bench::median;
using dp::bench::now;

namespace {

/// Reads and writes every element in a way that the compiler cannot remove.
struct update_in_place {
  float* data;
  void operator()(std::size_t i) const { data[i] = data[i] * 0.5F + 1.0F; }
  void range(std::size_t begin, std::size_t end) const {
    DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN
    for (std::size_t i = begin; i != end; ++i) (*this)(i);
    DEVPLACE_INDEPENDENT_ITERATIONS_END
  }
};

/// Returns the seconds per call, measured over at least 50 ms; `wait` waits for the work that the calls enqueued.
template <class Call, class Wait> double time_of(Call&& call, Wait&& wait) {
  call();
  wait();
  for (std::size_t calls = 1;; calls *= 2) {
    const double begin = now();
    for (std::size_t i = 0; i != calls; ++i) call();
    wait();
    const double taken = now() - begin;
    if (taken >= 0.05) return taken / static_cast<double>(calls);
  }
}

void measure(int n, std::size_t count, int rounds) {
  std::vector<int> ordinals(static_cast<std::size_t>(n));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  std::vector<dp::detail::memory_block> blocks;
  std::vector<float*> buffers;
  const std::vector<float> ones(count, 1.0F);
  for (const int ordinal : ordinals) {
    blocks.push_back(dp::detail::allocate<cuda>(ordinal, count * sizeof(float)));
    buffers.push_back(static_cast<float*>(blocks.back().data()));
    dp::detail::copy_in<cuda>(ordinal, buffers.back(), ones.data(), count * sizeof(float));
  }
  dp::parallel::direct<cuda> direct(ordinals);
  dp::parallel::ring<cuda> ring(ordinals);
  const auto wait = [&] {
    for (const int ordinal : ordinals) dp::detail::synchronize<cuda>(ordinal);
  };
  const std::span<float* const> all(buffers);
  // As many elements as all buffers together; the values stay finite under every mean.
  const auto of_memory = dp::detail::allocate<dp::backend::cpu>(0, buffers.size() * count * sizeof(float));
  float* const memory = static_cast<float*>(of_memory.data());
  for (std::size_t i = 0; i != buffers.size() * count; ++i) memory[i] = 1.0F;
  std::vector<double> by_direct, by_ring, limit;
  for (int round = 0; round < rounds; ++round) {
    by_direct.push_back(time_of([&] { direct.all_reduce(all, count, dp::reduction::mean); }, wait));
    by_ring.push_back(time_of([&] { ring.all_reduce(all, count, dp::reduction::mean); }, wait));
    limit.push_back(time_of(
        [&] {
          dp::detail::for_each_index<dp::backend::cpu>(0, buffers.size() * count, 16384, update_in_place{memory});
        },
        [] {}));
  }
  const double bytes = 2.0 * n * static_cast<double>(count) * sizeof(float);
  std::printf("%9zu %3d %10.3f %10.3f %10.3f %12.2f %12.2f %12.1f\n", count, n, median(by_direct) * 1e3,
              median(by_ring) * 1e3, median(limit) * 1e3, median(by_direct) / median(limit),
              median(by_ring) / median(limit), bytes / median(by_direct) * 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("DEVPLACE_SIMULATED_DEVICES", "8", 0);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  std::printf("%d thread(s) for the limit, one for each device\n", dp::thread_count());
  std::printf("%9s %3s %10s %10s %10s %12s %12s %12s\n", "floats", "n", "direct ms", "ring ms", "limit ms",
              "direct/limit", "ring/limit", "direct GB/s");
  for (const std::size_t count : {std::size_t{203530}, std::size_t{25000000}})
    for (const int n : {2, 4, 8}) measure(n, count, rounds);
}
