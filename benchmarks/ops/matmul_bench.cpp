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

#include <devplace/ops/matrix_engine.hpp>
#include <devplace/place/thread_team.hpp>

#include "support/thread_counts.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;
using dp::detail::gemm_arguments;

namespace {

/// Seconds per call, measured over about `seconds`.
template <class Function>
double time_of(double seconds, Function&& call) {
  call();
  std::size_t calls = 1;
  for (;; calls *= 2) {
    const double begin = now();
    for (std::size_t i = 0; i < calls; ++i)
      call();
    const double taken = now() - begin;
    if (taken >= seconds / 2) return taken / static_cast<double>(calls);
  }
}

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

template <class T>
struct matrices {
  std::vector<T> a, b, c;
  gemm_arguments<T> g;

  explicit matrices(const shape& s) : a(s.m * s.k, T(0.5)), b(s.k * s.n, T(0.25)), c(s.m * s.n) {
    g.m = s.m, g.n = s.n, g.k = s.k;
    g.transpose_a = s.transpose_a, g.transpose_b = s.transpose_b;
    g.a = a.data(), g.b = b.data(), g.c = c.data();
    g.lda = s.transpose_a ? s.m : s.k, g.ldb = s.transpose_b ? s.k : s.n, g.ldc = s.n;
  }
};

/// One register tile with the current instruction set, on operands that stay in the first-level cache.
template <class T>
void multiply_tile(std::size_t depth, const T* a, const T* b, T* c) {
  namespace detail = dp::detail;
#if defined(__x86_64__)
  if (detail::current_isa() == detail::cpu_isa::avx512) {
    constexpr std::size_t rows = detail::avx512::tile_rows, columns = 128 / sizeof(T);
    detail::avx512::tile<T, rows, 2>(depth, a, rows, b, columns, c, columns, {1, 0, nullptr, false});
    return;
  }
  if (detail::current_isa() == detail::cpu_isa::avx2) {
    constexpr std::size_t rows = detail::avx2::tile_rows, columns = 64 / sizeof(T);
    detail::avx2::tile<T, rows, 2>(depth, a, rows, b, columns, c, columns, {1, 0, nullptr, false});
    return;
  }
#endif
  constexpr std::size_t rows = detail::generic::tile_rows, columns = 32 / sizeof(T);
  detail::generic::tile<T, rows, 2>(depth, a, rows, b, columns, c, columns, {1, 0, nullptr, false});
}

/// The processor's peak in GFLOP/s: only fused multiply-adds, and loads that hit the first-level cache.
template <class T>
double peak(double seconds) {
  const int members = dp::thread_count();
  const auto kernels = dp::detail::gemm_kernels_of<T>(dp::detail::current_isa());
  constexpr std::size_t depth = 128, repetitions = 1000;
  const double taken = time_of(seconds, [&] {
    dp::detail::parallel_members(members, [&](int) {
      T* const memory = static_cast<T*>(dp::detail::gemm_buffer::of_this_thread());
      for (std::size_t i = 0; i < 8192; ++i)
        memory[i] = T(0.5);
      for (std::size_t i = 0; i < repetitions; ++i)
        multiply_tile(depth, memory, memory + 1024, memory + 6144);
    });
  });
  const std::size_t work = kernels.tile_rows * 2 * kernels.lanes * depth * repetitions;
  return 2e-9 * static_cast<double>(work) * members / taken;
}

template <class T>
void table(const char* type, int threads, double seconds) {
  dp::builtin_thread_team team(threads);
  const dp::thread_team_scope scope(team);
  const dp::team_region region;
  std::printf("\n%s, %d thread%s, GFLOP/s; multiply-add peak of this run: %.0f\n", type, threads,
              threads == 1 ? "" : "s", peak<T>(seconds));
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
      builtin.push_back(time_of(slice, [&] { dp::detail::gemm<dp::detail::gemm_builtin>(mine.g); }));
#if defined(DEVPLACE_WITH_CBLAS)
      library.push_back(time_of(slice, [&] { dp::detail::gemm<dp::detail::gemm_cblas>(mine.g); }));
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
                1e6 * time_of(seconds, [&] { dp::detail::parallel_members(counts.back(), [](int) {}); }));
  }
  for (const int threads : counts) {
    table<float>("float", threads, seconds);
    table<double>("double", threads, seconds);
  }
  return 0;
}
