// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/nn/detail/batch.hpp>
#include <devplace/nn/detail/engine.hpp>
#include <devplace/tensor/view.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace::train::detail {

/// Adds a step's sums, which lie behind the gradients, to those of the steps before.
template <class T>
struct total_functor {
  double* totals;
  const T* tail;
  DEVPLACE_HD void operator()(std::size_t) const {
    totals[0] += static_cast<double>(tail[1]);
    totals[1] += static_cast<double>(tail[0]);
  }
};

/// Sets the sums over steps to zero.
struct clear_totals_functor {
  double* totals;
  DEVPLACE_HD void operator()(std::size_t i) const { totals[i] = 0; }
};

/// The memory of a trainer on one place.
template <class T>
struct step_memory {
  devplace::detail::memory_block workspace;
  devplace::detail::memory_block scalars;
  devplace::detail::memory_block clipping;

  T* sums() const { return static_cast<T*>(scalars.data()); }
  double* totals() const { return static_cast<double*>(scalars.data()) + devplace::detail::alignment / sizeof(double); }
  T* clip() const { return static_cast<T*>(scalars.data()) + 2 * devplace::detail::alignment / sizeof(T); }
};

/// Forward, loss and backward of one replica on its part of the batch; ordinals are values here.
template <class Net, class T, class Backend, class Tu, class PlacedLoss, class Targets>
void forward_and_backward(const nn::detail::replica<T>& r, const step_memory<T>& memory, const PlacedLoss& loss,
                          std::size_t rows, const T* x, const Targets& targets, const nn::random_key& key) {
  using run = nn::detail::engine<Net, T, Backend, Tu>;
  using layout = step_layout<Net>;
  using where = here<Backend>;
  const devplace::detail::device_of<where> device{r.ordinal};
  T* const workspace = static_cast<T*>(memory.workspace.data());
  T* const output_gradient = workspace + layout::pass(rows);
  T* const row_losses = output_gradient + layout::output(rows);
  const auto p = run::make_pass(r, workspace, rows, nn::mode::train, key);
  if (rows != 0) run::forward(p, x);
  const auto outputs = nn::detail::batch_extents<typename run::output_extents>(rows);
  using batch_extents = std::remove_const_t<decltype(outputs)>;
  loss.template into<Tu>(view<T, extents<2>, where>{memory.sums(), {}, device},
                         view<T, batch_extents, where>{output_gradient, outputs, device},
                         view<T, extents<dyn>, where>{row_losses, extents<dyn>{rows}, device},
                         view<const T, batch_extents, where>{run::output_of(p), outputs, device}, targets);
  nn::detail::run_backward<Net, T, Backend, Tu>(p, r, x, output_gradient, memory.sums(), false);
}

}  // namespace devplace::train::detail
