// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled alone: compilers report a missing component once, and cases of other sources miss this one, too.
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>

namespace dp = devplace;

struct set_to_zero {
  float* x;
  DEVPLACE_HD void operator()(std::size_t i) const { x[i] = 0; }
};

void runs(float* x) { dp::detail::for_each_index<dp::backend::cpu>(0, 1, 1, set_to_zero{x}); }

#if defined(OPERATION_WITHOUT_COMPONENT)  // expect: devplace: this operation runs on a cuda place, and the target
void launch(float* x) { dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, set_to_zero{x}); }
#endif

#if defined(SYNCHRONIZE_WITHOUT_COMPONENT)  // expect: devplace: a tensor on a cuda place needs the component cuda
void wait() { dp::synchronize<dp::cuda<0>>(); }
#endif
