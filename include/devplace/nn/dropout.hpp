// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ratio>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/random.hpp>

namespace devplace::nn {

/// In training, sets each element to 0 with the probability P, a std::ratio, and multiplies the others by 1 / (1 - P):
/// `dropout<std::ratio<1, 8>>` for 12.5 %, `dropout<>` for a half. In prediction, the identity. The dropped elements
/// depend only on the model's seed, the step, the layer and the sample's index in the whole batch, so that one device
/// and several replicas agree; backward draws the numbers again instead of storing a mask.
template <class ProbabilityRatio = std::ratio<1, 2>> struct dropout {
  /// The probability, a std::ratio.
  using probability = ProbabilityRatio;
  static_assert(detail::is_probability<probability>,
                "devplace: dropout takes its probability as a ratio, at least 0 and below 1: dropout<std::ratio<1, "
                "10>> for 10 %.");
  /// Members that layer_for requires.
  ///@{
  template <class In> using output = In;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool in_place = true;

  static void forward(const auto& c) { apply(c, c.output, c.input); }
  static void backward(const auto& c) { apply(c, c.input_gradient, c.output_gradient); }
  ///@}

 private:
  template <class Call> static void apply(const Call& c, const auto& to, const auto& from) {
    dropout_into(to, from, c.mode == mode::train ? detail::number_of<probability> : 0.0,
                 dropout_key{c.key.seed, c.key.layer, c.key.step, c.key.step_on_place}, c.key.first_sample);
  }
};

}  // namespace devplace::nn
