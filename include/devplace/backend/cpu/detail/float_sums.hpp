// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>

DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

/// Whether a reducer adds floats of an array to sums in double, so that added_float_groups applies.
template <class Source, class Reducer> inline constexpr bool adds_floats = false;
template <class Reducer>
inline constexpr bool adds_floats<element_source<float>, Reducer> = requires { Reducer::adds_values; };

#if defined(__x86_64__)
/// Computes sums[lane] += x[32 group + lane] for all groups and 32 lanes. Each conversion reads its 4 floats from
/// memory. In inline assembly, because g++ would read 8 floats at a time; extracting the upper 4 takes 50% longer.
[[gnu::target("avx2")]] inline void add_float_groups(double* sums, const float* x, std::size_t groups) {
  using doubles = vector_of<double, 32>;
  typename doubles::type lanes[8];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < 8; ++i) lanes[i] = *reinterpret_cast<const doubles::unaligned*>(sums + 4 * i);
  for (; groups != 0; --groups, x += 32) {
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < 8; ++i) {
      const auto& part = *reinterpret_cast<const vector_of<float, 16>::unaligned*>(x + 4 * i);
      doubles::type converted;
      __asm__("vcvtps2pd %1, %0" : "=x"(converted) : "m"(part));
      lanes[i] += converted;
    }
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < 8; ++i) *reinterpret_cast<doubles::unaligned*>(sums + 4 * i) = lanes[i];
}
#endif

/// Adds floats to 32 sums as add_float_groups does, if this process may use AVX2. Returns the number of groups added.
/// Not inlined, so that callers compiled for several instruction sets share one check of the processor.
[[gnu::noinline]] inline std::size_t added_float_groups([[maybe_unused]] double* sums, [[maybe_unused]] const float* x,
                                                        [[maybe_unused]] std::size_t groups) {
#if defined(__x86_64__)
  if (current_isa() == cpu_isa::generic) return 0;
  add_float_groups(sums, x, groups);
  return groups;
#else
  return 0;
#endif
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
