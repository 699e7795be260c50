// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/float_reductions.hpp>
#include <devplace/backend/cpu/detail/gemm_blocks.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

// Compiles the code of each <name>_body.hpp once per instruction set, each time in another namespace. DEVPLACE_TARGET
// is the attribute that selects the set; DEVPLACE_ROOT is its instruction for square roots (undefined: scalar ones).
// Every function with vector operations needs the attribute DEVPLACE_TARGET or must always be inlined into a function
// with this attribute. Otherwise its vector operations are lowered for the baseline processor. The attribute cannot
// depend on a template argument.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

// Compiled for the target of the command line. 8 accumulators of 16 bytes, 2 vectors of B and one broadcast element of
// A fit the 16 registers of x86-64 and the 32 of NEON.
namespace generic {

inline constexpr std::size_t vector_bytes = 16;  // size of a vector of a register tile
inline constexpr std::size_t pack_bytes = 16;    // size of a row of a transposed block
inline constexpr std::size_t tile_rows = 4;
namespace narrow = generic;  // its code copies and transposes in vectors of up to 32 bytes
#define DEVPLACE_TARGET
#if defined(__AVX__)
  #define DEVPLACE_ROOT "vsqrt"
#elif defined(__x86_64__)
  #define DEVPLACE_ROOT "sqrt"
#endif
#include <devplace/backend/cpu/detail/instruction_sets_body.hpp>
#undef DEVPLACE_ROOT
#undef DEVPLACE_TARGET

}  // namespace generic

#if defined(__x86_64__)
  #define DEVPLACE_ROOT "vsqrt"

// Uses 15 of 16 registers: 12 accumulators of 32 bytes, 2 vectors of B and one broadcast element of A.
namespace avx2 {

inline constexpr std::size_t vector_bytes = 32;
inline constexpr std::size_t pack_bytes = 32;
inline constexpr std::size_t tile_rows = 6;
namespace narrow = avx2;
  #define DEVPLACE_TARGET __attribute__((target("avx2,fma")))
  #include <devplace/backend/cpu/detail/instruction_sets_body.hpp>
  #undef DEVPLACE_TARGET

}  // namespace avx2

// Uses 19 of 32 registers: 16 accumulators of 64 bytes, 2 vectors of B and one broadcast element of A.
namespace avx512 {

inline constexpr std::size_t vector_bytes = 64;
inline constexpr std::size_t pack_bytes = 32;
inline constexpr std::size_t tile_rows = 8;
namespace narrow = avx2;  // AVX-512 gains nothing
  #define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
  #include <devplace/backend/cpu/detail/instruction_sets_body.hpp>
  #undef DEVPLACE_TARGET

}  // namespace avx512

  #undef DEVPLACE_ROOT
#endif

/// Returns `f(code)` for the code of an instruction set, by default the best one that this process may use.
template <class F> decltype(auto) with_instruction_set(const F& f, cpu_isa isa = current_isa()) {
  switch (isa) {
#if defined(__x86_64__)
    case cpu_isa::avx512:
      return f(avx512::code{});
    case cpu_isa::avx2:
      return f(avx2::code{});
#endif
    default:
      return f(generic::code{});
  }
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
