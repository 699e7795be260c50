// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GFLOP/s of the CPU matrix product in float, bf16 and half, and of bf16 with a float result as for weight gradients;
// in parentheses the ratio to float. The types alternate within a round. Reports medians, next to the peaks of
// multiplications in registers and the first-level cache measured in the same run. Arguments: rounds (15), thread
// counts.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/matrix_engine.hpp>

#include "support/thread_counts.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::median;
using dp::bench::now;
using dp::detail::cpu_isa;
using dp::detail::gemm_arguments;

namespace {

struct short_shape {
  const char* what;
  std::size_t m, n, k;
  bool transpose_a, transpose_b;
};
// Weights are stored [out, in], so the forward product transposes B and the weight gradient transposes A.
constexpr short_shape short_shapes[] = {
    {"forward 1024x1024x1024", 1024, 1024, 1024, false, true},
    {"dX      1024x1024x1024", 1024, 1024, 1024, false, false},
    {"dW      1024x1024x1024", 1024, 1024, 1024, true, false},
    {"square            2048", 2048, 2048, 2048, false, false},
    {"forward   64x784x256", 64, 256, 784, false, true},
    {"dW       256x64x784", 256, 784, 64, true, false},
    {"dX        64x256x784", 64, 784, 256, false, false},
    {"forward    1x784x256", 1, 256, 784, false, true},
};

template <class T, class Result> struct short_matrices {
  std::vector<T> a, b;
  std::vector<Result> c;
  gemm_arguments<T, Result> g;
  std::vector<double> seconds;

  explicit short_matrices(const short_shape& s) : a(s.m * s.k, T(0.5)), b(s.k * s.n, T(0.25)), c(s.m * s.n) {
    g.m = s.m, g.n = s.n, g.k = s.k;
    g.transpose_a = s.transpose_a, g.transpose_b = s.transpose_b;
    g.a = a.data(), g.b = b.data(), g.c = c.data();
    g.lda = s.transpose_a ? s.m : s.k, g.ldb = s.transpose_b ? s.k : s.n, g.ldc = s.n;
    run();
    seconds.clear();
  }
  /// Computes as many products as take about a millisecond.
  void run() {
    const std::size_t calls = 1 + 50'000'000 / (g.m * g.n * g.k);
    const double begin = now();
    for (std::size_t i = 0; i < calls; ++i) dp::detail::gemm_builtin::run(g);
    seconds.push_back((now() - begin) / static_cast<double>(calls));
  }
};

/// Returns the GFLOP/s of one register tile of `Kernel` on operands that stay in the first-level cache, on all members
/// of the team.
template <class Kernel> double peak_of() {
  constexpr std::size_t depth = 128, repetitions = 20000;
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const double begin = now();
    dp::detail::parallel_members(dp::thread_count(), [&](int) {
      float* const memory = static_cast<float*>(dp::detail::gemm_buffer::of_this_thread());
      for (std::size_t i = 0; i < 8192; ++i) memory[i] = 0.5f;
      for (std::size_t i = 0; i < repetitions; ++i)
        Kernel::template sums<Kernel::rows>(depth, memory, memory + 1024, memory + 6144);
    });
    seconds.push_back(now() - begin);
  }
  const std::size_t work = Kernel::rows * Kernel::columns * Kernel::pairs * depth * repetitions;
  return 2e-9 * static_cast<double>(work) * dp::thread_count() / median(seconds);
}

void print_peaks() {
#if defined(__x86_64__)
  if (dp::detail::current_isa() == cpu_isa::avx512)
    std::printf("peak, GFLOP/s: multiply-adds of float %.0f", peak_of<dp::detail::avx512::float_kernel>());
  if (dp::detail::mixed_product_isa() == cpu_isa::avx512_bf16)
    std::printf(", of pairs of bf16 %.0f", peak_of<dp::detail::avx512_bf16::dot_kernel>());
#endif
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::vector<int> counts = dp::bench::thread_counts(argc, argv);
  std::printf("engine: %s\n", dp::detail::gemm_builtin::name());
  for (const int threads : counts) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    const dp::team_region region;
    std::printf("\n%d thread%s; ", threads, threads == 1 ? "" : "s");
    print_peaks();
    std::printf("%-24s %8s %16s %16s %16s\n", "GFLOP/s", "float", "bf16", "bf16 -> float", "half");
    for (const short_shape& s : short_shapes) {
      short_matrices<float, float> in_float(s);
      short_matrices<dp::bf16, dp::bf16> in_bf16(s);
      short_matrices<dp::bf16, float> to_float(s);
      short_matrices<dp::half, dp::half> in_half(s);
      for (int round = 0; round < rounds; ++round) in_float.run(), in_bf16.run(), to_float.run(), in_half.run();
      const double work = 2e-9 * static_cast<double>(s.m * s.n * s.k), base = median(in_float.seconds);
      std::printf("%-24s %8.1f", s.what, work / base);
      for (const double seconds : {median(in_bf16.seconds), median(to_float.seconds), median(in_half.seconds)})
        std::printf(" %9.1f (%.2f)", work / seconds, base / seconds);
      std::printf("\n");
    }
  }
  return 0;
}
