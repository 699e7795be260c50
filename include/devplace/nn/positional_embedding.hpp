// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include <devplace/nn/detail/computed.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/tensor/copy.hpp>

namespace devplace::nn {

/// Computes x + w for samples [Length, Width], whose rows are the positions of a sequence. In PyTorch: x +
/// torch.nn.Embedding(Length, Width)(torch.arange(Length)). `weight` w is [Length, Width], drawn from the standard
/// normal distribution.
template <std::size_t Length, std::size_t Width> struct positional_embedding {
  static_assert(detail::check_sizes<Length, Width>());
  static_assert(Length > 0 && Width > 0,
                "devplace: positional_embedding<Length, Width> needs at least one position and one column.");
  /// Members that layer_for requires.
  ///@{
  using input_extents = extents<Length, Width>;
  template <class> using output = input_extents;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool in_place = true;
  ///@}
  /// `weight`.
  static constexpr std::array parameters{parameter{"weight", {Length, Width}, init::normal(0, 1)}};

  /// Members that layer_for requires.
  ///@{
  static void forward(const auto& c) {
    detail::assign_rounded(samples(c.output), detail::computed(samples(c.input)) +
                                                  c.template master_parameter<0>().reshape(extents<Length * Width>{}));
  }
  static void backward(const auto& c) {
    const auto dy = samples(c.output_gradient);
    sum_into(c.template parameter_gradient<0>().reshape(extents<Length * Width>{}), dy, {.accumulate = c.accumulate},
             axis<0>{});
    if (c.needs_input_gradient && c.input_gradient.data() != c.output_gradient.data())
      copy(c.input_gradient, c.output_gradient);
  }
  ///@}

 private:
  static auto samples(const auto& x) { return x.reshape(extents<dyn, Length * Width>{x.extent(0)}); }
};

}  // namespace devplace::nn
