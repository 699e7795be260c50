// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::train::detail {

/// Bytes that a trainer needs on a place in addition to model and optimizer.
template <class Net, class P> struct step_layout {
  using run = runtime::pass_layout<Net, P>;
  using roles = precision_traits<P>;

  /// Saved activations, output and scratch of the pass.
  static constexpr std::size_t pass(std::size_t rows) { return run::workspace_bytes(rows, runtime::mode::train); }
  /// Whether the loss works on a copy of 16-bit outputs. Their gradient overwrites the copy.
  static constexpr bool copies_outputs = !std::is_same_v<typename roles::activation, typename roles::accumulator>;
  /// Whether the gradient of the outputs overwrites them, because backward does not read them.
  static constexpr bool overwrites_outputs =
      !run::plan::keeps_output && std::is_same_v<typename run::output_element, typename roles::activation>;
  static constexpr std::size_t output_gradient(std::size_t rows) {
    return overwrites_outputs ? 0
                              : runtime::padded_bytes(runtime::sample_size<typename run::output_extents> * rows *
                                                      sizeof(typename roles::activation));
  }
  /// Bytes of the gradient from a loss that must not overwrite its outputs (nn::overwrites_output), until it replaces
  /// the outputs. In mixed precision every loss overwrites the copy of the outputs.
  static constexpr std::size_t separate_gradient(std::size_t rows) {
    return overwrites_outputs && !copies_outputs ? run::output_bytes(rows) : 0;
  }
  /// Number of rows of one output along its last axis: some losses have one value per row.
  static constexpr std::size_t rows_of_output = [] {
    using output = typename run::output_extents;
    if constexpr (output::rank == 0)
      return std::size_t{1};
    else
      return runtime::sample_size<output> / std::max(output::static_extent(output::rank - 1), std::size_t{1});
  }();
  static constexpr std::size_t output_copy(std::size_t rows) {
    return copies_outputs ? runtime::padded_bytes(runtime::sample_size<typename run::output_extents> * rows *
                                                  sizeof(typename roles::accumulator))
                          : 0;
  }
  /// `row_sums`: numbers of layer_rows::sums for each sample. In backward they overwrite the copy of the outputs and
  /// the losses, which nobody reads any more.
  static constexpr std::size_t workspace(std::size_t rows, bool separates_gradient = false, std::size_t row_sums = 0) {
    const std::size_t of_loss =
        output_copy(rows) + runtime::padded_bytes(rows * rows_of_output * sizeof(typename roles::accumulator));
    return (separates_gradient ? separate_gradient(rows) : 0) + behind_gradient(rows) +
           std::max(of_loss, runtime::padded_bytes(rows * row_sums * sizeof(typename roles::accumulator)));
  }
  static constexpr std::size_t behind_gradient(std::size_t rows) { return pass(rows) + output_gradient(rows); }
};

/// The sums of losses over steps, and the factor and norm of clipping: a cache line each.
inline constexpr std::size_t scalar_bytes = 2 * devplace::detail::alignment;

}  // namespace devplace::train::detail
