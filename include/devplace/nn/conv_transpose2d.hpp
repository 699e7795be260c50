// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/convolution_layer.hpp>
#include <devplace/nn/detail/window_options.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn {

namespace detail {

/// The input extents of a transposed convolution of `Channels` channels: `X` if they fit, else a stand-in. The
/// layer computes the gradient of a convolution: `rows` and `columns` are the axes of this convolution, whose `in` are
/// the extents of the layer's output.
template <class Options, std::size_t Channels, class X> struct transposed_fit {
  static constexpr std::size_t rank = X::rank;
  /// An extent of X or, if X is no image, the smallest extent for which the padding leaves an output.
  static constexpr std::size_t extent(std::size_t axis, const axis_options& window) {
    if constexpr (rank == 3)
      return X::static_extent(axis);
    else
      return window.giving(1).in > 0 ? 1 : (2 * window.padding - window.reach()) / window.stride + 2;
  }
  static constexpr std::size_t height = extent(1, Options::rows), width = extent(2, Options::columns);
  static constexpr auto rows = Options::rows.giving(height), columns = Options::columns.giving(width);
  static_assert(rows.in > 0 && columns.in > 0,
                "devplace: the padding of conv_transpose2d removes all of its output; reduce the padding.");
  using type = extents<Channels, height, width>;
  using expected = std::conditional_t<rank == 3, type, at_least<type>>;
};

}  // namespace detail

/// A transposed convolution of `In` channels to `Out`, as torch.nn.ConvTranspose2d: the gradient of a convolution from
/// `Out` to `In` channels. Samples [In, H, W] become [Out, H', W'] with H' = (H - 1) stride - 2 padding + dilation
/// (kernel - 1) + 1, and W' likewise. `weight` is [In, Out / groups, kernel rows, kernel columns] and `bias` [Out],
/// both initialised uniformly in [-1, 1] / sqrt(Out / groups * kernel rows * kernel columns). The options are those of
/// conv2d.
template <std::size_t In, std::size_t Out, class... Options> struct conv_transpose2d {
 private:
  using options = detail::window_options<false, Options...>;
  static_assert(detail::check_sizes<In, Out>());
  static_assert(options::known && options::has_kernel,
                "devplace: the options of conv_transpose2d are kernel, which it needs, stride, padding, dilation, "
                "groups<1 or more> and no_bias, each at most once: conv_transpose2d<16, 8, kernel<2>, stride<2>>.");
  static_assert(options::positive, "devplace: kernel, stride and dilation of conv_transpose2d are 1 or more.");
  static constexpr std::size_t groups = options::group_number;
  static constexpr bool divide = In > 0 && Out > 0 && In % groups == 0 && Out % groups == 0;
  static_assert(divide,
                "devplace: the groups of conv_transpose2d do not divide its channels: In and Out must be multiples of "
                "Count in groups<Count>, and not 0.");
  static constexpr std::size_t fan = Out / groups * options::template taps<2>;
  /// The shape of the convolution of one sample from Out to In channels.
  template <class X>
  static constexpr devplace::detail::convolution_shape shape{1,
                                                             groups,
                                                             Out / groups,
                                                             In / groups,
                                                             detail::transposed_fit<options, In, X>::rows,
                                                             detail::transposed_fit<options, In, X>::columns};

 public:
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::transposed_fit<options, In, X>;
  template <class X> using output = extents<Out, takes<X>::rows.in, takes<X>::columns.in>;
  static constexpr keep keeps = keep::input, frozen_keeps = keep::nothing;
  static constexpr auto parameters = detail::weight_and_bias<options::bias>(
      {"weight", {In, Out / groups, options::rows.size, options::columns.size}, init::fan_in_uniform(fan)},
      {"bias", {Out}, init::fan_in_uniform(fan)});
  template <class X> static constexpr std::size_t scratch = devplace::detail::convolution_scratch(shape<X>);
  template <class X>
  static constexpr std::size_t sums =
      std::max(devplace::detail::convolution_sums(shape<X>), devplace::detail::convolution_gradient_sums(shape<X>));
  static constexpr bool has_sums = true, plans_ahead = true, gives_channels_first = true;
  template <class X> static constexpr std::size_t multiply_adds = fan * detail::sample_size<typename takes<X>::type>;

  template <class Call> static void forward(const Call& c) {
    const typename Call::value_type* bias = nullptr;
    if constexpr (options::bias) bias = c.template parameter<1>().data();
    passes_of(c).input_gradient(c.output.data(), c.input.data(), c.template parameter<0>().data(), bias);
  }
  template <class Call> static void backward(const Call& c) {
    const auto passes = passes_of(c);
    [[maybe_unused]] const typename Call::gradient_type old = c.accumulate ? 1 : 0;  // factor of existing gradients
    const auto* const dy = c.output_gradient.data();
    if constexpr (options::bias && Call::needs_parameter_gradients)
      passes.bias_gradient(c.template parameter_gradient<1>().data(), dy, Out, passes.of_one.plane(), old);
    if constexpr (Call::needs_parameter_gradients)
      passes.weight_gradient(c.template parameter_gradient<0>().data(), c.input.data(), dy, old, c.scratch().data());
    passes.forward(c.input_gradient.data(), dy, c.template parameter<0>().data(), nullptr,
                   devplace::detail::epilogue::none);
  }
  ///@}

 private:
  template <class Call> static detail::convolution_passes<Call> passes_of(const Call& c) {
    return {c.ordinal(), c.batch(), shape<typename Call::sample>, {c.float_parameters(), c.float_sums()}};
  }
};

}  // namespace devplace::nn
