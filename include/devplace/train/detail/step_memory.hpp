// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <devplace/memory/block.hpp>
#include <devplace/ops/repeated_work.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/loss_scale.hpp>
#include <devplace/train/detail/step_mark.hpp>

// The memory of a trainer's steps on a place, and the functor that stores a batch's sums there.
namespace devplace::train::detail {

/// Stores a batch's sums of losses and weights in one launch. Writes them behind the gradients for the update, followed
/// by the elements of the step_mark, and to `pending` for the mean loss. `add`: adds to the sums of earlier batches
/// since the last update. `counts`: first adds the pending sums to the totals, since an update has used their batches.
template <class Gradient, class Sum> struct loss_functor {
  runtime::tail_functor<Gradient, Sum> tail;
  step_mark<Gradient> mark;
  double* totals;
  double* pending;
  bool counts;
  std::uint64_t* passes;  ///< the number of the next pass, followed by the number for backward; null if not counted
  DEVPLACE_HD void operator()(std::size_t i) const {
    tail(i);
    mark(i);
    if (passes != nullptr) passes[1] = passes[0]++;
    for (int k = 0; k < 2; ++k) {
      if (counts) totals[k] += pending[k];
      pending[k] = (tail.add ? pending[k] : 0) + static_cast<double>(tail.sums[k]);
    }
  }
};

/// Whether the numbers of passes lie on the places.
template <class Backend> inline constexpr bool counts_passes = devplace::detail::provided<Backend, op::repeated_work>;

template <class T> struct step_memory {
  devplace::detail::memory_block workspace;
  devplace::detail::memory_block scalars;
  devplace::detail::memory_block clipping;
  std::optional<std::size_t> rows;         ///< the workspace's capacity in samples
  bool counts = false;                     ///< whether an update has used the batches of pending()
  std::optional<std::uint64_t> next_pass;  ///< number on the place of the next pass; empty if unknown
  step_mark<T> mark;                       ///< mark of the current step

  /// The numbers that begin at a byte of the workspace.
  template <class X> X* in_workspace(std::size_t begin) const {
    return static_cast<X*>(static_cast<void*>(static_cast<std::byte*>(workspace.data()) + begin));
  }
  /// Two sums over the batches of all updates, followed by two sums over the pending batches.
  double* totals() const { return static_cast<double*>(scalars.data()); }
  double* pending() const { return totals() + 2; }
  /// Memory of a checksum that compares replicas and processes.
  std::uint64_t* checksum() const { return static_cast<std::uint64_t*>(scalars.data()) + 4; }
  /// The number of the next pass, and the number for the running backward pass.
  std::uint64_t* passes() const { return checksum() + 1; }
  std::uint64_t* step_hash() const { return passes() + 2; }
  T* clip() const { return static_cast<T*>(scalars.data()) + devplace::detail::alignment / sizeof(T); }
  /// The loss scale, behind the two results of clipping.
  runtime::loss_scale* scale() const {
    return static_cast<runtime::loss_scale*>(
        static_cast<void*>(static_cast<std::byte*>(scalars.data()) + devplace::detail::alignment + 2 * sizeof(double)));
  }
};

}  // namespace devplace::train::detail
