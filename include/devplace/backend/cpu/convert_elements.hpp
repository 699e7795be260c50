// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

// Conversions of arrays of bf16 and half, compiled for each instruction set like the code of instruction_sets.hpp.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

namespace generic {

#define DEVPLACE_TARGET
#define DEVPLACE_LANES 4
#include <devplace/backend/cpu/detail/convert_elements_body.hpp>
#undef DEVPLACE_LANES
#undef DEVPLACE_TARGET

}  // namespace generic

#if defined(__x86_64__)
  #define DEVPLACE_WIDEN_HALF "vcvtph2ps %1, %0"
  #define DEVPLACE_NARROW_HALF "vcvtps2ph $0, %1, %0"

namespace avx2 {

  #define DEVPLACE_TARGET __attribute__((target("avx2,fma,f16c")))
  #define DEVPLACE_LANES 8
  #include <devplace/backend/cpu/detail/convert_elements_body.hpp>
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx2

namespace avx512 {

  #define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")))
  #define DEVPLACE_LANES 16
  #include <devplace/backend/cpu/detail/convert_elements_body.hpp>
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx512

  #undef DEVPLACE_NARROW_HALF
  #undef DEVPLACE_WIDEN_HALF
#endif

/// Converts `count` elements; one type is a 16-bit type and the other is float.
template <class To, class From>
[[gnu::noinline]] void convert_elements(To* to, const From* from, std::size_t count, cpu_isa isa = current_isa()) {
#if defined(__x86_64__)
  if (isa >= cpu_isa::avx512) return avx512::convert_array(to, from, count);
  if (isa >= cpu_isa::avx2) return avx2::convert_array(to, from, count);
#endif
  static_cast<void>(isa);
  generic::convert_array(to, from, count);
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
