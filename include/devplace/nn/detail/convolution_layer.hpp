// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/window_options.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/ops/convolution.hpp>

namespace devplace::nn::detail {

/// The passes of convolution layers, also of transposed convolutions, whose forward is `input_gradient` and whose
/// backward contains `forward`. The shape is a run-time value and functions are not inlined, so that all layers
/// share the code.
template <class P, class Backend> struct passes_of_convolution {
  using T = element_of_t<P>;
  using sum = devplace::detail::computed_t<T>;
  int ordinal;
  std::size_t samples;
  const devplace::detail::convolution_shape& of_one;  ///< the shape for one sample
  devplace::detail::convolution_floats<T> floats;

  /// y = epilogue(convolution of x with weight + bias), unless `y` is null; `bias` may be null.
  [[gnu::noinline]] void forward(T* y, const T* x, const T* weight, const T* bias,
                                 devplace::detail::epilogue last) const {
    if (y != nullptr)
      run<devplace::op::convolution>(
          devplace::detail::convolution_arguments<T>{shape(), x, weight, bias, y, last, math, floats});
  }
  /// The gradients of bias and weight, added to `old` times the existing ones.
  ///@{
  [[gnu::noinline]] void bias_gradient(sum* to, const T* dy, std::size_t channels, std::size_t pixels, sum old) const {
    run<devplace::op::convolution_bias_gradient>(
        devplace::detail::convolution_bias_gradient_arguments<T>{samples, channels, pixels, dy, to, old});
  }
  [[gnu::noinline]] void weight_gradient(sum* to, const T* dy, const T* x, sum old, sum* scratch) const {
    run<devplace::op::convolution_weight_gradient>(
        devplace::detail::convolution_weight_gradient_arguments<T>{shape(), dy, x, to, old, scratch, math});
  }
  ///@}
  /// The gradient of the input + bias, unless `dx` is null; `bias` may be null.
  [[gnu::noinline]] void input_gradient(T* dx, const T* dy, const T* weight, const T* bias) const {
    if (dx != nullptr)
      run<devplace::op::convolution_input_gradient>(
          devplace::detail::convolution_input_gradient_arguments<T>{shape(), dy, weight, bias, dx, math, floats});
  }

 private:
  static constexpr devplace::detail::product_math math = devplace::detail::math_of<P>;
  devplace::detail::convolution_shape shape() const {
    auto result = of_one;
    result.samples = samples;
    return result;
  }
  template <class Op, class Arguments> void run(const Arguments& arguments) const {
    devplace::detail::dispatch<Op, Backend>(ordinal, arguments);
  }
};
template <class Call>
using convolution_passes = passes_of_convolution<typename Call::precision_type, typename Call::backend_type>;

/// The convolution of `In` to `Out` channels of series or images. Fuses a following relu.
template <std::size_t Axes, std::size_t In, std::size_t Out, class... Options> struct convolution_layer {
 private:
  using options = window_options<false, Options...>;
  static_assert(check_sizes<In, Out>());
  static_assert(options::known,
                "devplace: a convolution's options are kernel, stride, padding and dilation, of one number or two, "
                "groups<1 or more> and no_bias, each at most once: conv2d<3, 16, kernel<3>, stride<2>, padding<1>>.");
  static_assert(!options::known || options::has_kernel,
                "devplace: a convolution needs the extents of its kernel: conv2d<3, 16, kernel<3>>, or kernel<3, 5> "
                "for 3 rows and 5 columns.");
  static_assert(options::positive, "devplace: kernel, stride and dilation of a convolution are 1 or more.");
  static_assert(Axes == 2 || options::square,
                "devplace: a conv1d has one axis, so its options have one number: conv1d<3, 16, kernel<5>>.");
  static constexpr std::size_t groups = options::group_number;
  static constexpr bool divide = In > 0 && Out > 0 && In % groups == 0 && Out % groups == 0;
  static_assert(divide,
                "devplace: the groups of a convolution do not divide its channels: In and Out of conv2d<In, Out, "
                "groups<Count>> must be multiples of Count, and not 0.");

  static constexpr std::size_t channels = In / groups;
  static constexpr std::size_t fan_in = channels * options::template taps<Axes>;
  static constexpr parameter_shape weight_shape() {
    if constexpr (Axes == 2)
      return {Out, channels, options::rows.size, options::columns.size};
    else
      return {Out, channels, options::rows.size};
  }

 public:
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = window_fit<options, Axes, In, X>;
  template <class X> using output = typename takes<X>::template windows<Out>;
  static constexpr keep keeps = keep::input, frozen_keeps = keep::nothing;
  static constexpr auto parameters = weight_and_bias<options::bias>(
      {"weight", weight_shape(), init::fan_in_uniform(fan_in)}, {"bias", {Out}, init::fan_in_uniform(fan_in)});
  template <class X>
  static constexpr std::size_t scratch = devplace::detail::convolution_scratch(takes<X>::shape(1, groups, Out));
  template <class X>
  static constexpr std::size_t sums =
      std::max(devplace::detail::convolution_sums(takes<X>::shape(1, groups, Out)),
               devplace::detail::convolution_gradient_sums(takes<X>::shape(1, groups, Out)));
  static constexpr bool has_sums = true, plans_ahead = true, gives_channels_first = true;
  static constexpr bool backward_reads_for_input = true;
  template <class X> static constexpr std::size_t multiply_adds = fan_in * sample_size<output<X>>;
  template <class Next> static constexpr bool absorbs = std::same_as<Next, relu>;

  static void forward(const auto& c) { convolve(c, devplace::detail::epilogue::none); }
  template <class Next> static void forward_absorbing(const auto& c) { convolve(c, devplace::detail::epilogue::relu); }
  static void backward(const auto& c) { gradients(c, c.output_gradient); }
  template <class Next> static void backward_absorbing(const auto& c, const auto& output, const auto& between) {
    relu::differentiate(flat(between), flat(c.output_gradient), flat(output));
    gradients(c, between);
  }
  ///@}

 private:
  template <class X>
  static constexpr devplace::detail::convolution_shape shape_of_one = takes<X>::shape(1, groups, Out);
  template <class Call> static const devplace::detail::convolution_shape& shape_of(const Call& c) {
    if constexpr (requires { c.image_shape; })
      return c.image_shape;
    else
      return shape_of_one<typename Call::sample>;
  }
  template <class Call> static convolution_passes<Call> passes_of(const Call& c) {
    return {c.ordinal(), c.batch(), shape_of(c), {c.float_parameters(), c.float_sums()}};
  }

  template <class Call> static void convolve(const Call& c, devplace::detail::epilogue epilogue) {
    const typename Call::value_type* bias = nullptr;
    if constexpr (options::bias) bias = c.template parameter<1>().data();
    passes_of(c).forward(c.output.data(), c.input.data(), c.template parameter<0>().data(), bias, epilogue);
  }

  template <class Call, class Dy> static void gradients(const Call& c, const Dy& dy) {
    const auto passes = passes_of(c);
    [[maybe_unused]] const typename Call::gradient_type old = c.accumulate ? 1 : 0;  // factor of existing gradients
    if constexpr (options::bias && Call::needs_parameter_gradients)
      passes.bias_gradient(c.template parameter_gradient<1>().data(), dy.data(), Out, passes.of_one.pixels(), old);
    if constexpr (Call::needs_parameter_gradients)
      passes.weight_gradient(c.template parameter_gradient<0>().data(), dy.data(), c.input.data(), old,
                             c.scratch().data());
    passes.input_gradient(c.input_gradient.data(), dy.data(), c.template parameter<0>().data(), nullptr);
  }
};

}  // namespace devplace::nn::detail
