// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <devplace/place/error.hpp>

namespace devplace::detail {

/// Instruction sets that CPU kernels are compiled for, in ascending order.
enum class cpu_isa : unsigned char { generic, avx2, avx512 };

constexpr const char* name_of(cpu_isa isa) {
  return isa == cpu_isa::avx512 ? "avx512" : isa == cpu_isa::avx2 ? "avx2" : "generic";
}

/// The highest that this processor and its operating system support.
inline cpu_isa supported_isa() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return cpu_isa::generic;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return avx512 ? cpu_isa::avx512 : cpu_isa::avx2;
#else
  return cpu_isa::generic;
#endif
}

/// Applies `variable`, the value of DEVPLACE_CPU_ISA (null or empty: unset), which can select a lower instruction set
/// than the supported one. Throws argument_error for a higher or unknown one.
inline cpu_isa choose_isa(const char* variable, cpu_isa supported) {
  if (variable == nullptr || *variable == '\0') return supported;
  const std::string_view text = variable;
  for (const cpu_isa isa : {cpu_isa::generic, cpu_isa::avx2, cpu_isa::avx512}) {
    if (text != name_of(isa)) continue;
    if (isa <= supported) return isa;
    throw argument_error("the environment variable DEVPLACE_CPU_ISA asks for " + std::string(text) +
                         ", but this processor supports " + name_of(supported) +
                         " at most. Set it to that or less, or unset it.");
  }
  throw argument_error("the environment variable DEVPLACE_CPU_ISA is \"" + std::string(text) +
                       "\". Set it to generic, avx2 or avx512, or unset it to use the best that the processor has.");
}

/// The instruction set of CPU kernels in this process; the environment is read once.
inline cpu_isa current_isa() {
  static const cpu_isa isa = choose_isa(std::getenv("DEVPLACE_CPU_ISA"), supported_isa());
  return isa;
}

}  // namespace devplace::detail
