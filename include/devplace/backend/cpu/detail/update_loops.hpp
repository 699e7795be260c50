// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/gemm_kernel_common.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::detail {

namespace generic_loops {

inline constexpr std::size_t vector_bytes = 16;
#define DEVPLACE_OPTIM_TARGET
#if defined(__AVX__)
  #define DEVPLACE_OPTIM_ROOT "vsqrt"
#elif defined(__x86_64__)
  #define DEVPLACE_OPTIM_ROOT "sqrt"
#endif
#include <devplace/backend/cpu/detail/update_loops_body.hpp>
#undef DEVPLACE_OPTIM_ROOT
#undef DEVPLACE_OPTIM_TARGET

}  // namespace generic_loops

#if defined(__x86_64__)
  #define DEVPLACE_OPTIM_ROOT "vsqrt"

namespace avx2_loops {

inline constexpr std::size_t vector_bytes = 32;
  #define DEVPLACE_OPTIM_TARGET __attribute__((target("avx2,fma")))
  #include <devplace/backend/cpu/detail/update_loops_body.hpp>
  #undef DEVPLACE_OPTIM_TARGET

}  // namespace avx2_loops

namespace avx512_loops {

inline constexpr std::size_t vector_bytes = 64;
  #define DEVPLACE_OPTIM_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
  #include <devplace/backend/cpu/detail/update_loops_body.hpp>
  #undef DEVPLACE_OPTIM_TARGET

}  // namespace avx512_loops

  #undef DEVPLACE_OPTIM_ROOT
#endif

/// Elements [begin, end) of an update, with the widest vectors that this process may use.
template <class Update>
void update_range(const Update& enqueued, std::size_t begin, std::size_t end) {
  constexpr typename Update::array_numbers arrays;
  switch (current_isa()) {
#if defined(__x86_64__)
    case cpu_isa::avx512:
      return avx512_loops::update(enqueued, begin, end, arrays);
    case cpu_isa::avx2:
      return avx2_loops::update(enqueued, begin, end, arrays);
#endif
    default:
      return generic_loops::update(enqueued, begin, end, arrays);
  }
}

/// sums[lane] += values[lane]^2 for `count` lanes; sums and values must not overlap.
template <class T>
void add_squares(double* sums, const T* values, std::size_t count) {
  switch (current_isa()) {
#if defined(__x86_64__)
    case cpu_isa::avx512:
      return avx512_loops::add_squares(sums, values, count);
    case cpu_isa::avx2:
      return avx2_loops::add_squares(sums, values, count);
#endif
    default:
      return generic_loops::add_squares(sums, values, count);
  }
}

}  // namespace devplace::detail
