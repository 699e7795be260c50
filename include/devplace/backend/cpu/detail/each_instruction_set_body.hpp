// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Includes the file DEVPLACE_BODY once for each instruction set, in the namespaces of instruction_sets.hpp, with f16c.
// DEVPLACE_LANES is the number of floats of a vector.
namespace generic {

#define DEVPLACE_TARGET
#define DEVPLACE_LANES 4
#include DEVPLACE_BODY
#undef DEVPLACE_LANES
#undef DEVPLACE_TARGET

}  // namespace generic

#if defined(__x86_64__)

namespace avx2 {

  #define DEVPLACE_TARGET __attribute__((target("avx2,fma,f16c")))
  #define DEVPLACE_LANES 8
  #include DEVPLACE_BODY
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx2

namespace avx512 {

  #define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")))
  #define DEVPLACE_LANES 16
  #include DEVPLACE_BODY
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx512

#endif
#undef DEVPLACE_BODY
