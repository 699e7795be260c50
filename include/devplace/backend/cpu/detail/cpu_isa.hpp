// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__linux__)
  #include <sys/syscall.h>
  #include <unistd.h>
#endif

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// Instruction sets for which CPU kernels are compiled, in ascending order. The last two are avx512 plus instructions
/// for bf16 products of vectors (avx512_bf16) and of tiles (amx).
enum class cpu_isa : unsigned char { generic, avx2, avx512, avx512_bf16, amx };

inline constexpr cpu_isa all_isas[] = {cpu_isa::generic, cpu_isa::avx2, cpu_isa::avx512, cpu_isa::avx512_bf16,
                                       cpu_isa::amx};

constexpr const char* name_of(cpu_isa isa) {
  constexpr const char* names[] = {"generic", "avx2", "avx512", "avx512_bf16", "amx"};
  return names[static_cast<unsigned char>(isa)];
}

#if defined(__x86_64__)
/// Registers ecx and edx of a cpuid leaf, for features that clang 16's __builtin_cpu_supports does not name.
struct cpuid_bits {
  unsigned c, d;

  static cpuid_bits query(unsigned leaf) noexcept {
    unsigned c = 0, d;
    __asm__ volatile("cpuid" : "+a"(leaf), "+c"(c), "=d"(d) : : "rbx");
    return {c, d};
  }
};

/// Returns whether an AVX-512 processor has tiles for bf16 and the operating system lets this process use them. Asks
/// Linux for permission once for all threads (https://docs.kernel.org/arch/x86/xstate.html).
inline bool tiles_are_allowed() noexcept {
  #if defined(__linux__)
  constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if ((cpuid_bits::query(7).d & amx_bf16) == 0 || (cpuid_bits::query(7).d & amx_tile) == 0) return false;
  constexpr long ask_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, ask_permission, tile_data) == 0;
  #else
  return false;
  #endif
}
#endif

inline cpu_isa supported_isa() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  constexpr unsigned f16c = 1u << 29;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || (cpuid_bits::query(1).c & f16c) == 0)
    return cpu_isa::generic;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  if (!avx512) return cpu_isa::avx2;
  if (!__builtin_cpu_supports("avx512bf16")) return cpu_isa::avx512;
  return tiles_are_allowed() ? cpu_isa::amx : cpu_isa::avx512_bf16;
#else
  return cpu_isa::generic;
#endif
}

/// Returns the instruction set in `variable`, the value of DEVPLACE_CPU_ISA; null or empty selects `supported`. Throws
/// argument_error for an unknown set or a set above `supported`.
DEVPLACE_COMPILABLE() cpu_isa choose_isa(const char* variable, cpu_isa supported) {
  if (variable == nullptr || *variable == '\0') return supported;
  const std::string_view text = variable;
  for (const cpu_isa isa : all_isas) {
    if (text != name_of(isa)) continue;
    if (isa <= supported) return isa;
    throw argument_error({"the environment variable DEVPLACE_CPU_ISA asks for ", text, ", but this processor supports ",
                          name_of(supported), " at most. Set the variable to that set or a lower one, or unset it."});
  }
  throw argument_error({"the environment variable DEVPLACE_CPU_ISA is \"", text,
                        "\". Set it to generic, avx2, avx512, avx512_bf16 or amx, or unset it to use the best "
                        "that the processor has."});
}
DEVPLACE_COMPILED(cpu_isa choose_isa(const char*, cpu_isa))

/// Returns the instruction set of bf16 products in this process; the environment is read once. Not inlined, because
/// every loop over elements asks.
[[gnu::noinline]] inline cpu_isa mixed_product_isa() {
  static const cpu_isa isa = choose_isa(std::getenv("DEVPLACE_CPU_ISA"), supported_isa());
  return isa;
}

/// Returns the instruction set of all other CPU kernels in this process: avx512 at most.
inline cpu_isa current_isa() {
  const cpu_isa isa = mixed_product_isa();
  return isa < cpu_isa::avx512 ? isa : cpu_isa::avx512;
}

}  // namespace devplace::detail
