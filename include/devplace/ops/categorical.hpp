// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/sort.hpp>
#include <devplace/ops/take_along.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace {

/// Options of categorical().
struct categorical_options {
  double temperature = 1;    ///< divides the logits: below 1 prefers likely categories; 0 takes the likeliest one
  std::size_t top_k = 0;     ///< draws among this many largest logits; 0: among all
  std::uint64_t stream = 0;  ///< number of the draw: the token's position, or the step
};

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the position of the largest logit of each row after noise of the Gumbel distribution was added.
template <class X> auto drawn_positions(const X& logits, seed start, const categorical_options& options) {
  constexpr axis<operand_extents_t<X>::rank - 1> last{};
  const double sharpness = 1 / options.temperature;
  if (!is_finite(sharpness)) return argmax(logits, last);  // infinite factors would make NaN of logits that are 0
  result_beside_t<X, double, operand_extents_t<X>> noise(logits.extents());
  uniform_into(noise, start, options.stream, 0.0, 1.0);
  return argmax(cast<double>(logits) * sharpness - log(-log(noise)), last);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Draws a category from each row of logits (along the last axis), with the probabilities softmax(logits /
/// temperature): `categorical(logits, seed{1}, {.temperature = 0.8, .top_k = 50, .stream = position})`. Returns int64
/// positions with the extents of the other axes, on the place of the logits. The numbers depend on seed, stream and
/// index alone, so every place draws the same categories, except where logits differ by rounding. A logit of -infinity
/// is never drawn, unless its row has no others. A NaN is always drawn. Allocates workspace. Throws argument_error for
/// a temperature that is negative or not finite, and if a row has fewer than top_k elements. Source: the Gumbel-max
/// trick (Maddison, Tarlow and Minka 2014).
template <detail::accepted_argument Operand>
auto categorical(Operand&& operand, seed start, const categorical_options& options = {}) {
  using Logits = detail::evaluated_value_t<Operand>;
  if constexpr (detail::check_unnamed<Operand>() && detail::takes_on_one_place<Logits>()) {
    constexpr std::size_t rank = detail::operand_extents_t<Logits>::rank;
    constexpr bool fits = rank > 0 && !std::is_integral_v<detail::operand_element_t<Logits>>;
    static_assert(fits, "devplace: categorical: the operand is logits [..., categories] of a floating-point type.");
    if constexpr (fits) {
      if (!detail::is_finite(options.temperature) || options.temperature < 0)
        throw argument_error({"categorical: the temperature is ", detail::format_number(options.temperature),
                              "; give a finite number, 0 for the likeliest category."});
      const auto& logits = evaluated(operand);
      if (options.top_k == 0) return detail::drawn_positions(logits, start, options);
      const auto largest = top_k(logits, options.top_k);
      const auto chosen = detail::drawn_positions(largest.values, start, options);
      const auto one = detail::with_axis<detail::operand_extents_t<Logits>, rank - 1, 1>::with(1, logits.extents());
      const auto drawn = take_along(largest.positions, chosen.view().reshape(one), axis<rank - 1>{});
      return to<detail::operand_placement_t<Logits>>(drawn.view().reshape(chosen.extents()));
    } else {
      return detail::refusal{};
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
