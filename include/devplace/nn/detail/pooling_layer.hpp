// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/window_options.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/pooling.hpp>

namespace devplace::nn::detail {

/// Base of pooling layers, whose windows cover one or two axes of one channel. Derived layers add `keeps` and the
/// passes.
template <std::size_t Axes, class... Options> struct pooling_layer {
 private:
  using options = window_options<true, Options...>;
  static_assert(options::known && options::groupings == 0 && options::no_biases == 0,
                "devplace: a pooling's options are kernel, stride, padding and, for max pooling only, dilation; each "
                "has one number or two and is given at most once: max_pool2d<kernel<3>, stride<2>, padding<1>>.");
  static_assert(!options::known || options::has_kernel,
                "devplace: a pooling needs the extents of its window: max_pool2d<kernel<2>>, or kernel<2, 3> for 2 "
                "rows and 3 columns.");
  static_assert(options::positive, "devplace: kernel, stride and dilation of a pooling are 1 or more.");
  static_assert(Axes == 2 || options::square,
                "devplace: max_pool1d and avg_pool1d have one axis, so their options have one number: "
                "max_pool1d<kernel<2>>.");
  static_assert(2 * options::rows.padding <= options::rows.size &&
                    2 * options::columns.padding <= options::columns.size,
                "devplace: a pooling's padding is at most half its kernel; otherwise a window could have no element.");

 public:
  /// The check of the input's extents X, and the extents of the output.
  template <class X> using takes = window_fit<options, Axes, 0, X>;
  template <class X> using output = typename takes<X>::template windows<takes<X>::channels>;
  static constexpr bool gives_channels_first = true;

 protected:
  template <class Call> static constexpr devplace::detail::pooling_shape shape_of([[maybe_unused]] const Call& c) {
    if constexpr (requires { c.image_shape; })
      return {c.image_shape.rows, c.image_shape.columns};
    else
      return {takes<typename Call::sample>::rows, takes<typename Call::sample>::columns};
  }

  /// Runs a functor for each element of a batch of images.
  template <class Call, class F> static void run(const Call& c, std::size_t plane, const F& f) {
    devplace::detail::for_each_in_planes<typename Call::backend_type>(
        c.ordinal(), c.batch() * takes<typename Call::sample>::channels, plane, f);
  }
};

template <std::size_t Axes, class... Options> struct average_pooling : pooling_layer<Axes, Options...> {
  static_assert(window_options<true, Options...>::dilations == 0,
                "devplace: avg_pool2d and avg_pool1d have no dilation.");
  static constexpr keep keeps = keep::nothing;

  template <class Call> static void forward(const Call& c) {
    const auto s = average_pooling::shape_of(c);
    using functor = devplace::detail::average_pool_functor<typename Call::value_type>;
    average_pooling::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    const auto s = average_pooling::shape_of(c);
    using functor = devplace::detail::average_pool_gradient_functor<typename Call::value_type>;
    average_pooling::run(c, s.plane(), functor{s, c.output_gradient.data(), c.input_gradient.data()});
  }
};

template <std::size_t Axes, class... Options> struct max_pooling : pooling_layer<Axes, Options...> {
  static constexpr keep keeps = keep::input;

  template <class Call> static void forward(const Call& c) {
    const auto s = max_pooling::shape_of(c);
    using functor = devplace::detail::max_pool_functor<typename Call::value_type>;
    max_pooling::run(c, s.windows(), functor{s, c.input.data(), c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    const auto s = max_pooling::shape_of(c);
    using functor = devplace::detail::max_pool_gradient_functor<typename Call::value_type>;
    max_pooling::run(c, s.plane(), functor{s, c.input.data(), c.output_gradient.data(), c.input_gradient.data()});
  }
};

}  // namespace devplace::nn::detail
