// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/config.hpp>

// Loops over elements, compiled up to three times: for the target of the command line, for AVX2 if that target lacks
// it and F does not declare that it computes_little, and for AVX-512 if F::computes_much justifies the compile time.
// The AVX2 and AVX-512 versions have no fused multiply-adds, so a program gives the same bits on every processor unless
// its own flags allow fusing; sums of products in such an F, if no functor of a user's, stand between the macros
// DEVPLACE_UNFUSED for clang. The last elements, which fill no vector, are rounded like those in vectors. The version
// for processors without AVX2, which few machines have, calls F for each index if F::range_needs_vectors, and g++
// compiles it for size: four versions would otherwise make most of the code of a small program. F::allows_fma states
// that F has no product and sum that a compiler could fuse. The AVX2 version then has FMA, because std::fma is slow
// without it. F::has_loops_of_any_length states that F::range contains loops whose lengths are known only at run time.
// By default, g++ -O2 vectorises only loops of constant length, so these loops are compiled with another cost model.
namespace devplace::detail {

// Calls f.range(begin, end), or f for each index without such a member or unless the further condition holds. No
// function, because clang's `flatten` inlines the calls in a function itself, but not those in a callee.
#define DEVPLACE_DETAIL_LOOP(...)                              \
  if constexpr (requires { f.range(begin, end); } __VA_ARGS__) \
    f.range(begin, end);                                       \
  else                                                         \
    for (std::size_t i = begin; i != end; ++i) f(i);

DEVPLACE_ANY_LOOP_BODY_BEGIN
[[gnu::noinline, gnu::flatten]] void range_for_target(const auto& f, std::size_t begin, std::size_t end) {
  DEVPLACE_DETAIL_LOOP()
}
#if defined(__x86_64__) && !defined(__AVX2__)
[[gnu::noinline, gnu::flatten, gnu::target("avx2")]] void range_for_avx2(const auto& f, std::size_t begin,
                                                                         std::size_t end) {
  DEVPLACE_DETAIL_LOOP()
}
[[gnu::noinline, gnu::flatten, gnu::target("avx2,fma")]] void range_for_avx2_with_fma(const auto& f, std::size_t begin,
                                                                                      std::size_t end) {
  DEVPLACE_DETAIL_LOOP()
}
[[gnu::noinline, gnu::flatten, gnu::target("avx2"), DEVPLACE_FOR_ANY_LENGTH]] void range_for_avx2_any_length(
    const auto& f, std::size_t begin, std::size_t end) {
  DEVPLACE_DETAIL_LOOP()
}
[[gnu::noinline, gnu::flatten, DEVPLACE_FOR_SIZE]] void range_for_old_processors(const auto& f, std::size_t begin,
                                                                                 std::size_t end) {
  DEVPLACE_DETAIL_LOOP(&&!requires { f.range_needs_vectors; })
}
#endif
#if defined(DEVPLACE_AVX512_WITHOUT_FMA)
[[gnu::noinline, gnu::flatten, DEVPLACE_AVX512_WITHOUT_FMA]] void range_for_avx512(const auto& f, std::size_t begin,
                                                                                   std::size_t end) {
  if constexpr (requires { f.template range<true>(begin, end); })
    f.template range<true>(begin, end);  // 32 registers have room for several vectors at once
  else
    DEVPLACE_DETAIL_LOOP()
}
#endif
DEVPLACE_ANY_LOOP_BODY_END
#undef DEVPLACE_DETAIL_LOOP

/// Calls f.range(begin, end), or f for each index, with the best instructions that this process may use.
template <class F> void run_range(const F& f, std::size_t begin, std::size_t end) {
#if defined(DEVPLACE_AVX512_WITHOUT_FMA)
  if constexpr (requires { requires F::computes_much; })
    if (current_isa() == cpu_isa::avx512 && unfused_code_is_unfused()) return range_for_avx512(f, begin, end);
#endif
#if defined(__x86_64__) && !defined(__AVX2__)
  if constexpr (!requires { requires F::computes_little; }) {
    if (current_isa() != cpu_isa::generic) {
      if constexpr (requires { requires F::allows_fma; })
        return range_for_avx2_with_fma(f, begin, end);
      else if constexpr (requires { requires F::has_loops_of_any_length; })
        return range_for_avx2_any_length(f, begin, end);
      else
        return range_for_avx2(f, begin, end);
    }
    return range_for_old_processors(f, begin, end);
  } else
#endif
    range_for_target(f, begin, end);
}

/// Names the loop of a functor in the library of component compiled.
#define DEVPLACE_COMPILED_LOOP(...) \
  DEVPLACE_COMPILED(void devplace::detail::run_range(const __VA_ARGS__&, std::size_t, std::size_t))

}  // namespace devplace::detail
