// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/ops/linear_gradients.hpp>
#include <devplace/runtime/round_elements.hpp>

namespace devplace::nn {

template <std::size_t In, std::size_t Out, bool Bias> struct linear;

namespace detail {

/// The number of outputs of a linear layer that is trained; 0 for other layers.
template <class Layer> inline constexpr std::size_t linear_outputs = 0;
template <std::size_t In, std::size_t Out, bool Bias>
inline constexpr std::size_t linear_outputs<linear<In, Out, Bias>> = Out;

/// The largest number of outputs of a linear layer whose input's gradient the kernel of a relu's gradient computes.
template <class Backend> inline constexpr std::size_t most_outputs_after_relu = 0;
template <class Backend>
  requires requires { devplace::implementation<Backend, op::relu_gradient>::most_outputs; }
inline constexpr std::size_t most_outputs_after_relu<Backend> =
    devplace::implementation<Backend, op::relu_gradient>::most_outputs;

}  // namespace detail

/// y = x W^T + b along the last axis of x, [batch, ..., In]: `weight` is [Out, In] and `bias` [Out], both initialised
/// uniformly in [-1, 1] / sqrt(In), as in torch.nn.Linear. Both sizes are required; `linear<In, Out, false>` has no
/// bias. A following relu is fused into the same pass.
template <std::size_t In, std::size_t Out = 0, bool Bias = true> struct linear {
  static_assert(detail::check_sizes<In, Out>());
  static_assert(In > 0, "devplace: linear<In, Out> needs at least one input and one output.");
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  using input_extents = extents<In>;
  template <class X> using takes = detail::last_axis<X, In>;
  template <class X> using output = typename takes<X>::template with<Out>;
  static constexpr keep keeps = keep::input, frozen_keeps = keep::nothing;
  static constexpr bool plans_ahead = true, gives_channels_first = false, gives_any_numbers = true;
  static constexpr bool backward_reads_for_input = true;
  template <class X> static constexpr std::size_t multiply_adds = In * detail::sample_size<output<X>>;
  static constexpr std::size_t sliced_rows = Out;
  template <class X> static constexpr std::size_t row_sums = detail::sample_size<X>;
  static constexpr auto parameters = detail::weight_and_bias<Bias>({"weight", {Out, In}, init::fan_in_uniform(In)},
                                                                   {"bias", {Out}, init::fan_in_uniform(In)});
  ///@}

  /// Fuses a following relu: forward applies the relu to the product in registers or caches; backward applies the
  /// relu's gradient in the pass that sums the bias gradient.
  template <class Next> static constexpr bool absorbs = std::same_as<Next, relu>;
  /// The number of outputs of the layer `After` behind the fused relu if the fused backward also computes the gradient
  /// of that layer's input (backward_arguments); otherwise 0.
  template <class After, class Backend>
  static constexpr std::size_t outputs_after_relu =
      Bias && detail::linear_outputs<After> <= detail::most_outputs_after_relu<Backend> ? detail::linear_outputs<After>
                                                                                        : 0;

  /// Members that layer_for requires, and versions fused with the following relu. The fused backward reads the relu's
  /// output. It writes the gradient of the relu's input to `between`, which may alias the output's gradient.
  ///@{
  static void forward(const auto& c) { multiply(c, devplace::detail::epilogue::none); }
  template <class Next> static void forward_absorbing(const auto& c) { multiply(c, devplace::detail::epilogue::relu); }

  static void backward(const auto& c) { gradients(c, c.output_gradient.data(), Bias); }
  template <class Next> static void backward_absorbing(const auto& c, const auto& output, const auto& between) {
    using call = std::remove_cvref_t<decltype(c)>;
    if constexpr (Bias && call::needs_parameter_gradients)
      devplace::detail::relu_gradient_into(detail::rows(between), c.output_gradient, output,
                                           c.template parameter_gradient<1>(), factor_of_old(c), c.next_weight,
                                           c.next_outputs);
    else
      relu::differentiate(detail::flat(between), detail::flat(c.output_gradient), detail::flat(output));
    gradients(c, between.data(), false);
  }
  ///@}

  /// Passes through some rows of the weight, which are some columns of the output. The gradient of the input is the sum
  /// of the products of all ranges of columns.
  ///@{
  static void forward_rows(const auto& c) {
    const auto some = products_of(c, c.rows());
    if (some.rows == 0) return;  // the output has no address
    const std::size_t first = c.rows().first;
    const typename std::remove_cvref_t<decltype(c)>::value_type* bias = nullptr;
    if constexpr (Bias) bias = c.template parameter_behind<1>() + first;
    some.forward(c.output.data() + first, c.input.data(), c.template parameter<0>().data() + first * In, bias,
                 devplace::detail::epilogue::none);
  }
  template <class Call> static void backward_rows(const Call& c) {
    using T = typename Call::value_type;
    const auto some = products_of(c, c.rows());
    const std::size_t first = c.rows().first;
    const bool is_last = c.rows().last >= Out;
    const T* const dy = c.output_gradient.data();
    const T* const own_dy = some.rows == 0 ? dy : dy + first;  // a batch without samples has a null dy
    if constexpr (Call::needs_parameter_gradients) {
      some.parameter_gradients(c.template parameter_gradient<0>().data() + first * In, nullptr, own_dy, c.input.data(),
                               factor_of_old(c));
      if constexpr (Bias)
        if (is_last)
          detail::sum_columns<typename Call::backend_type>(c.ordinal(), c.template parameter_gradient<1>().data(), dy,
                                                           some.rows, Out, factor_of_old(c));
    }
    if (!c.needs_input_gradient) return;
    const T* const weight = c.template parameter<0>().data() + first * In;
    const typename Call::gradient_type factor_of_sums = first == 0 ? 0 : 1;
    if constexpr (std::is_same_v<T, typename Call::accumulator_type>) {
      some.input_gradient(c.input_gradient.data(), own_dy, weight, factor_of_sums);
    } else {
      some.input_gradient(c.row_sums(), own_dy, weight, factor_of_sums);
      if (is_last)
        runtime::round_elements<typename Call::backend_type>(c.ordinal(), c.input_gradient.data(), c.row_sums(),
                                                             c.input_gradient.size());
    }
  }
  ///@}

 private:
  template <class Call>
  using products = devplace::detail::linear_products<typename Call::precision_type, typename Call::backend_type>;
  /// The products of all or some rows of the weight.
  template <class Call> static products<Call> products_of(const Call& c, const runtime::row_range& rows = {0, Out}) {
    return {c.ordinal(), c.output.size() / Out, In, (rows.last < Out ? rows.last : Out) - rows.first, Out};
  }
  template <class Call> static void multiply(const Call& c, devplace::detail::epilogue epilogue) {
    const typename Call::value_type* bias = nullptr;
    if constexpr (Bias) bias = c.template parameter<1>().data();
    products_of(c).forward(c.output.data(), c.input.data(), c.template parameter<0>().data(), bias, epilogue);
  }

  /// Factor of the existing parameter gradients.
  template <class Call> static typename Call::gradient_type factor_of_old(const Call& c) {
    return c.accumulate ? 1 : 0;
  }
  template <class Call>
  static void gradients(const Call& c, const typename Call::value_type* dy, [[maybe_unused]] bool of_bias) {
    const auto all = products_of(c);
    if constexpr (Call::needs_parameter_gradients) {
      typename Call::gradient_type* bias = nullptr;
      if constexpr (Bias)
        if (of_bias) bias = c.template parameter_gradient<1>().data();
      all.parameter_gradients(c.template parameter_gradient<0>().data(), bias, dy, c.input.data(), factor_of_old(c));
    }
    all.input_gradient(c.input_gradient.data(), dy, c.template parameter<0>().data());
  }
};

/// Not a layer, so that networks with `linear<10>` are rejected.
template <std::size_t In, bool Bias> struct linear<In, 0, Bias> {
  /// The extents of one sample.
  using input_extents = extents<In>;
};

}  // namespace devplace::nn
