// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/loss.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

// Losses that are sums over elements: a formula gives the loss of an output element and its target, and the loss's
// derivative with respect to the output.
namespace devplace::nn::detail {

using devplace::detail::chosen;

/// Computes the losses and the gradient of one place's part of a batch; the weight of a sample is its number of
/// elements, or 1 if not `of_elements`. Throws shape_error for different extents.
// Returns auto, like into() of every loss, to be instantiated where it is called: nvcc's errors then name the user's
// line.
template <class Sums, class Gradient, class Rows, class Output, class Target, class Formula>
auto pointwise_into(const Sums& sums, const Gradient& gradient, const Rows& rows, const Output& output,
                    const Target& target, const Formula& formula, bool of_elements = true) {
  using T = typename Output::value_type;
  constexpr bool same_rank = same_ranks<Output, Target>, same_shape = same_sizes<Output, Target>,
                 same_elements = std::is_same_v<T, typename Target::value_type> && floating_element<T>;
  static_assert(same_rank,
                "devplace: loss: the output and the targets have different numbers of axes, such as [n, 1] and [n]; "
                "give one of them the extents of the other by reshape(...). If targets are class numbers, use "
                "nn::cross_entropy or nn::nll.");
  static_assert(same_shape, "devplace: loss: the output and the targets must have the same extents.");
  static_assert(same_elements,
                "devplace: loss: the targets must have the output's element type, float or double; convert them with "
                "cast<T>(x). If targets are class numbers, use nn::cross_entropy or nn::nll.");
  if constexpr (same_rank && same_shape && same_elements) {
    devplace::detail::require_same_extents("loss", "the output", output, "the target", target);
    const std::size_t n = output.extents().stride(0);
    using backend = typename Rows::backend_type;
    constexpr std::size_t grain = 16;
    devplace::detail::for_each_row<backend, devplace::detail::static_row_size<typename Output::extents_type>>(
        rows.ordinal(), rows.size(), n, grain,
        devplace::detail::pointwise_row<T, Formula>{devplace::detail::raw_data(gradient), rows.data(),
                                                    devplace::detail::raw_data(output),
                                                    devplace::detail::raw_data(target), n, formula});
    devplace::detail::sum_losses<backend>(
        rows.ordinal(), rows.size(), sums.data(),
        devplace::detail::mse_terms<T>{rows.data(), of_elements ? static_cast<double>(n) : 1.0});
  }
}

/// A loss on one place that consists of a formula alone.
template <class T, class Formula> struct bound_formula {
  using overwrites_output = bound_formula;
  Formula formula;
  bool of_elements = true;

  DEVPLACE_CONFIGURED auto into(const auto& sums, const auto& gradient, const auto& rows, const auto& output,
                                const auto& target) const {
    pointwise_into(sums, gradient, rows, output, target, formula, of_elements);
  }
};

/// Returns the sign of a difference, or NaN for NaN.
template <class T> DEVPLACE_HD T sign(T difference) {
  return chosen(difference > 0, T{1}, chosen(difference < 0, T{-1}, difference));
}

}  // namespace devplace::nn::detail
