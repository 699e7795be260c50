// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/matrix_engine.hpp>

#include "timing.hpp"

namespace devplace::bench {

/// Computes one register tile with the current instruction set on operands that stay in the first-level cache.
template <class T> void multiply_tile(std::size_t depth, const T* a, const T* b, T* c) {
#if defined(__x86_64__)
  if (detail::current_isa() == detail::cpu_isa::avx512) {
    constexpr std::size_t rows = detail::avx512::tile_rows, columns = 128 / sizeof(T);
    detail::avx512::tile<T, rows, 2>(depth, a, 1, rows, b, columns, c, columns, {1, 0, nullptr, false});
    return;
  }
  if (detail::current_isa() == detail::cpu_isa::avx2) {
    constexpr std::size_t rows = detail::avx2::tile_rows, columns = 64 / sizeof(T);
    detail::avx2::tile<T, rows, 2>(depth, a, 1, rows, b, columns, c, columns, {1, 0, nullptr, false});
    return;
  }
#endif
  constexpr std::size_t rows = detail::generic::tile_rows, columns = 32 / sizeof(T);
  detail::generic::tile<T, rows, 2>(depth, a, 1, rows, b, columns, c, columns, {1, 0, nullptr, false});
}

/// Returns the processor's peak in floating-point operations per second on all threads, measured over `seconds`: only
/// fused multiply-adds, and loads that hit the first-level cache.
template <class T> double multiply_add_peak(double seconds) {
  const int members = devplace::thread_count();
  const auto kernels = devplace::detail::gemm_kernels_of<T>(devplace::detail::current_isa());
  constexpr std::size_t depth = 128, repetitions = 1000;
  const auto run = [&] {
    devplace::detail::parallel_members(members, [&](int) {
      T* const memory = static_cast<T*>(devplace::detail::gemm_buffer::of_this_thread());
      for (std::size_t i = 0; i < 8192; ++i) memory[i] = T(0.5);
      for (std::size_t i = 0; i < repetitions; ++i) multiply_tile(depth, memory, memory + 1024, memory + 6144);
    });
  };
  const double taken = time_of(run, seconds);
  const std::size_t work = kernels.tile_rows * 2 * kernels.lanes * depth * repetitions;
  return 2.0 * static_cast<double>(work) * members / taken;
}

}  // namespace devplace::bench
