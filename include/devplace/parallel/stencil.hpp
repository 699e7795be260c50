// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/parallel/detail/cell_loop.hpp>
#include <devplace/parallel/detail/loop_operands.hpp>
#include <devplace/parallel/exchange.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Calls `f(x, y, ...)` for every cell of fields on the same places, in any order and concurrently, or `f(x, y, ..., i,
/// j, ...)` with the cell's indices in the whole field. `f` is given the cell of each field: a reference if the field
/// is not const, whose ghost rows are then stale; the value if it is const; and of exchanged fields a neighbourhood.
/// Over processes, each one computes its own cells. Other rules are those of parallel_for(where, extents, f).
template <class F, class... Field>
  requires(sizeof...(Field) != 0 && (parallel::detail::is_loop_operand<Field> && ...))
void parallel_for(const F& f, Field&&... fields) {
  if constexpr (parallel::detail::check_loop<F, Field...>()) {
    const parallel::detail::loop_operands<Field...> operands(fields...);
    operands.note_writes(fields...);
    (parallel::detail::finish_exchange(fields), ...);
    operands.for_cells(f, fields...);
  }
}

/// out = f(neighbourhood of each input) for every cell, or f(..., i, j, ...) with the cell's indices in the whole
/// field. An input is an exchanged field, `exchange(u, edge)` or `exchange_async(u, edge)`, of which `f` reads
/// neighbours by relative indices, `u(-1, 0)`; or another field, of which `f` is given the cell's value. Fields that
/// are exchanged asynchronously arrive while the interior cells are computed. Afterwards the ghost rows of `out` are
/// stale. `out` is none of the inputs.
template <class Out, class F, class... In> void stencil(Out&& out, const F& f, In&&... inputs) {
  if constexpr (parallel::detail::check_stencil<F, Out, In...>()) {
    const parallel::detail::assigned_result<F> assigned{f};
    const parallel::detail::loop_operands<Out, const std::remove_reference_t<In>&...> operands(out, inputs...);
    operands.note_writes(out, std::as_const(inputs)...);
    constexpr bool waits = (parallel::detail::is_exchanging<std::remove_cvref_t<In>> || ...);
    operands.template for_cells<waits>(assigned, out, std::as_const(inputs)...);
    if constexpr (waits) {
      (parallel::detail::finish_exchange(inputs), ...);
      operands.for_border(assigned, out, std::as_const(inputs)...);
    }
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
