// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Includes the file DEVPLACE_BODY once for each instruction set, each time in another namespace; `generic` is compiled
// for the target of the command line. DEVPLACE_LANES is the number of floats of a vector. The code in namespace
// `narrow` copies and transposes in vectors of up to 32 bytes, with which AVX-512 gains nothing.
namespace generic {

namespace narrow = generic;

#define DEVPLACE_TARGET
#define DEVPLACE_LANES 4
#include DEVPLACE_BODY
#undef DEVPLACE_LANES
#undef DEVPLACE_TARGET

}  // namespace generic

#if defined(__x86_64__)

namespace avx2 {

namespace narrow = avx2;

  #define DEVPLACE_TARGET __attribute__((target("avx2,fma,f16c")))
  #define DEVPLACE_LANES 8
  #include DEVPLACE_BODY
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx2

namespace avx512 {

namespace narrow = avx2;

  #define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")))
  #define DEVPLACE_LANES 16
  #include DEVPLACE_BODY
  #undef DEVPLACE_LANES
  #undef DEVPLACE_TARGET

}  // namespace avx512

#endif
#undef DEVPLACE_BODY
