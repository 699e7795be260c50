// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

#include <devplace/nn/layer.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce_into.hpp>

namespace devplace::nn {

/// y = x W^T + b for x of [batch, In]: `weight` is [Out, In] and `bias` [Out], both drawn from the uniform distribution
/// within 1 / sqrt(In), as torch.nn.Linear does. A relu that follows is computed in the same pass.
template <std::size_t In, std::size_t Out, bool Bias = true>
struct linear {
  static_assert(In > 0 && Out > 0, "devplace: linear<In, Out> needs at least one input and one output.");
  /// What layer_for asks for.
  ///@{
  using input_extents = extents<In>;
  template <class>
  using output = extents<Out>;
  static constexpr keep keeps = keep::input;
  ///@}

 private:
  static constexpr parameter weight{"weight", {Out, In}, init::fan_in_uniform(In)};
  static constexpr parameter bias{"bias", {Out}, init::fan_in_uniform(In)};
  static constexpr auto table() {
    if constexpr (Bias)
      return std::array{weight, bias};
    else
      return std::array{weight};
  }

 public:
  /// `weight` and, with Bias, `bias`.
  static constexpr auto parameters = table();

  /// A relu works on the product while it is in registers.
  template <class Next>
  static constexpr bool absorbs = std::same_as<Next, relu>;

  /// What layer_for asks for, and forward with the relu that follows.
  ///@{
  static void forward(const auto& c) { multiply(c, devplace::detail::epilogue::none); }
  template <class Next>
  static void forward_absorbing(const auto& c) {
    multiply(c, devplace::detail::epilogue::relu);
  }

  static void backward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    using T = typename call::value_type;
    using tu = typename call::translation_unit;
    const T old = c.accumulate ? T{1} : T{0};
    matmul_into<tu>(c.template parameter_gradient<0>(), transposed(c.output_gradient), c.input,
                    matmul_options<T>{.beta = old});
    if constexpr (Bias) column_sum_into<tu>(c.template parameter_gradient<1>(), c.output_gradient, old);
    if (c.needs_input_gradient) matmul_into<tu>(c.input_gradient, c.output_gradient, c.template parameter<0>());
  }
  ///@}

 private:
  template <class Call>
  static void multiply(const Call& c, devplace::detail::epilogue then) {
    using T = typename Call::value_type;
    matmul_options<T> options{.then = then};
    if constexpr (Bias) options.bias = c.template parameter<1>().data();
    matmul_into<typename Call::translation_unit>(c.output, c.input, transposed(c.template parameter<0>()), options);
  }
};

}  // namespace devplace::nn
