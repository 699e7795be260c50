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

// Compiles the code of each <name>_body.hpp once per instruction set, each time in another namespace
// (each_instruction_set_body.hpp). DEVPLACE_TARGET is the attribute that selects the set. Every function with vector
// operations needs the attribute DEVPLACE_TARGET or must always be inlined into a function with this attribute.
// Otherwise its vector operations are lowered for the baseline processor. The attribute cannot depend on a template
// argument.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

#define DEVPLACE_BODY <devplace/backend/cpu/detail/instruction_sets_body.hpp>
#include <devplace/backend/cpu/detail/each_instruction_set_body.hpp>

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
