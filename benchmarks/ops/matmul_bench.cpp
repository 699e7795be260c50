// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GFLOP/s of the CPU matrix product for the shapes of a small network's training step and some square ones, next to the
// processor's peak measured in the same run. Engines alternate within a round and the median over the rounds is
// reported, so changes of clock frequency or load affect all engines alike. Arguments: seconds per cell (0.1), thread
// counts.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/matrix_engine.hpp>

#include "support/multiply_add_peak.hpp"
#include "support/thread_counts.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::time_of;
using dp::detail::gemm_arguments;

namespace {

struct shape {
  const char* what;
  std::size_t m, n, k;
  bool transpose_a, transpose_b;
};

// Weights are stored [out, in], so the forward product transposes B and the weight gradient transposes A.
constexpr shape shapes[] = {
    {"forward   64x784x256", 64, 256, 784, false, true},   {"forward  256x784x256", 256, 256, 784, false, true},
    {"forward 1024x784x256", 1024, 256, 784, false, true}, {"forward 4096x784x256", 4096, 256, 784, false, true},
    {"forward   64x256x10", 64, 10, 256, false, true},     {"forward    1x784x256", 1, 256, 784, false, true},
    {"dW       256x64x784", 256, 784, 64, true, false},    {"dW        10x64x256", 10, 256, 64, true, false},
    {"dX        64x256x784", 64, 784, 256, false, false},  {"dX        64x10x256", 64, 256, 10, false, false},
    {"square     512", 512, 512, 512, false, false},       {"square    1024", 1024, 1024, 1024, false, false},
};

template <class T> struct matrices {
  std::vector<T> a, b, c;
  gemm_arguments<T> g;

  explicit matrices(const shape& s) : a(s.m * s.k, T(0.5)), b(s.k * s.n, T(0.25)), c(s.m * s.n) {
    g.m = s.m, g.n = s.n, g.k = s.k;
    g.transpose_a = s.transpose_a, g.transpose_b = s.transpose_b;
    g.a = a.data(), g.b = b.data(), g.c = c.data();
    g.lda = s.transpose_a ? s.m : s.k, g.ldb = s.transpose_b ? s.k : s.n, g.ldc = s.n;
  }
};

template <class T> void table(const char* type, int threads, double seconds) {
  dp::builtin_thread_team team(threads);
  const dp::thread_team_scope scope(team);
  const dp::team_region region;
  std::printf("\n%s, %d thread%s, GFLOP/s; multiply-add peak of this run: %.0f\n", type, threads,
              threads == 1 ? "" : "s", 1e-9 * dp::bench::multiply_add_peak<T>(seconds));
#if defined(DEVPLACE_WITH_CBLAS)
  std::printf("%-24s %10s %10s\n", "", "built-in", "cblas");
#else
  std::printf("%-24s %10s\n", "", "built-in");
#endif
  constexpr int rounds = 5;
  for (const shape& s : shapes) {
    matrices<T> mine(s);
    std::vector<double> builtin, library;
    for (int round = 0; round < rounds; ++round) {
      const double slice = seconds / rounds;
      builtin.push_back(time_of([&] { dp::detail::gemm<dp::detail::gemm_builtin>(mine.g); }, slice));
#if defined(DEVPLACE_WITH_CBLAS)
      library.push_back(time_of([&] { dp::detail::gemm<dp::detail::gemm_cblas>(mine.g); }, slice));
#endif
    }
    const double work = 2e-9 * static_cast<double>(s.m * s.n * s.k);
    std::printf("%-24s %10.1f", s.what, work / median(builtin));
    if (!library.empty()) std::printf(" %10.1f", work / median(library));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  const std::vector<int> counts = dp::bench::thread_counts(argc, argv);
  std::printf("engines: %s", dp::detail::gemm_builtin::name());
#if defined(DEVPLACE_WITH_CBLAS)
  std::printf(", %s", dp::detail::gemm_cblas::name());
#endif
  std::printf("\n");
  {
    dp::builtin_thread_team team(counts.back());
    const dp::team_region region;
    const dp::thread_team_scope scope(team);
    std::printf("fork and join of %d threads: %.2f us\n", counts.back(),
                1e6 * time_of([&] { dp::detail::parallel_members(counts.back(), [](int) {}); }, seconds));
  }
  for (const int threads : counts) {
    table<float>("float", threads, seconds);
    table<double>("double", threads, seconds);
  }
  return 0;
}
