// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/random.hpp>

namespace devplace::nn {

/// When training, sets each element to 0 with probability `Percent` / 100 and multiplies the others by 1 / (1 - Percent
/// / 100); the identity when predicting. Which elements are dropped depends only on the model's seed, the step, the
/// layer and the sample's index in the whole batch, so one device and several replicas agree; backward draws the same
/// numbers again instead of storing a mask.
template <std::size_t Percent = 50>
struct dropout {
  static_assert(Percent < 100, "devplace: dropout<Percent> takes a whole percentage below 100.");
  /// Members that layer_for requires.
  ///@{
  template <class In>
  using output = In;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool in_place = true;

  static void forward(const auto& c) { apply(c, c.output, c.input); }
  static void backward(const auto& c) { apply(c, c.input_gradient, c.output_gradient); }
  ///@}

 private:
  template <class Call>
  static void apply(const Call& c, const auto& to, const auto& from) {
    const double probability = c.mode == mode::train ? static_cast<double>(Percent) / 100 : 0.0;
    dropout_into(to, from, probability, dropout_key{c.key.seed, c.key.layer, c.key.step}, c.key.first_sample);
  }
};

}  // namespace devplace::nn
