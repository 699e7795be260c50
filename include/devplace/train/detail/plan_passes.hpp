// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/planning.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/train/detail/step.hpp>

namespace devplace::train::detail {

/// Address to pass instead of samples if no samples are read: aligned as a tensor, and distinct from all memory.
inline constexpr std::uintptr_t no_samples = std::uintptr_t{1} << (sizeof(std::uintptr_t) * 8 - 8);

/// Makes the libraries' plans for a step of one replica with `rows` samples, in the prepared memory. Steps with another
/// number of samples, or with samples at other alignments, make their plans themselves. `adds`: also plans steps that
/// add to the gradients of earlier steps. Computes nothing.
template <class Net, class P, class Backend, class S, class T>
void plan_passes([[maybe_unused]] const runtime::replica<S>& r, [[maybe_unused]] const step_memory<T>& memory,
                 [[maybe_unused]] std::size_t rows, [[maybe_unused]] bool adds) {
  if constexpr (devplace::detail::makes_plans<Backend>()) {
    using run = runtime::engine<Net, P, Backend>;
    if (rows == 0) return;
    const devplace::detail::planning_scope<Backend> plans_only;
    auto p = run::make_pass(r, memory.workspace.data(), rows, nn::mode::train, {});
    p.planning = true;
    const auto* const x = reinterpret_cast<const typename run::input_element*>(no_samples);
    const auto* const dy = output_gradient_of<Net, P>(memory, rows);
    run::forward(p, x);
    run::backward(p, r, x, dy, false);
    if (adds) run::backward(p, r, x, dy, true);
  }
}

}  // namespace devplace::train::detail
