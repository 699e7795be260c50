// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/detail/convolution_layer.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/pooling_layer.hpp>
#include <devplace/nn/detail/strip_rows.hpp>
#include <devplace/nn/detail/window_options.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// The windows of a layer over strips. The strips of the output are those of the input divided by the stride, so that
/// the windows of a place's rows begin `before` rows before its strip and end `behind` rows behind it.
template <class Options> struct strip_windows {
  static constexpr std::size_t reach = Options::reach_rows, step = Options::step.rows;
  static constexpr std::size_t before = Options::pad.rows;
  static constexpr std::size_t behind = reach > step + before ? reach - step - before : 0;
  static constexpr bool reaches_over = before + behind != 0;
  /// Whether the output of an image has its rows divided by the stride.
  static constexpr bool divides = reach <= step + 2 * before && 2 * before < reach;
};

/// Rejects strips of `Rows` rows that windows do not divide. A function, so that clang prints no further error.
template <class Windows, std::size_t Rows> consteval bool check_windows_of_strips() {
  constexpr bool divides = Windows::divides && Rows % Windows::step == 0;
  static_assert(divides,
                "devplace: in_parts: the stride or padding of a convolution or pooling does not divide the rows that "
                "each place has; the stride must divide them, and the output must have the rows of the input divided "
                "by the stride, as with padding<1> for kernel<3>.");
  constexpr bool reaches_neighbours = Rows >= Windows::before && Rows >= Windows::behind;
  static_assert(reaches_neighbours,
                "devplace: in_parts: the windows of a convolution or pooling reach over all rows of the neighbouring "
                "place; split the images over fewer places.");
  return true;
}

/// Samples of extents X, a strip, under windows with these options.
template <class Options, class X> struct strip_fit;
template <class Options, std::size_t C, std::size_t H, std::size_t W> struct strip_fit<Options, extents<C, H, W>> {
  using windows = strip_windows<Options>;
  static_assert(check_windows_of_strips<windows, H>());

  static constexpr std::size_t channels = C, rows = H, columns = W, out_rows = H / windows::step;
  static constexpr auto across = window_fit<Options, 2, C, extents<C, larger(H, Options::least_rows), W>>::columns;
  /// The rows that are exchanged with the neighbours, and the image, in elements for one sample.
  static constexpr std::size_t edges = padded((windows::before + windows::behind) * C * W);
  static constexpr std::size_t image = padded((windows::before + H + windows::behind) * C * W);
  /// Rows of windows over the image of the first, the last or another place.
  static constexpr devplace::detail::window_axis down(bool first, bool last) {
    return {(first ? 0 : windows::before) + H + (last ? 0 : windows::behind),
            out_rows,
            Options::size.rows,
            windows::step,
            first ? windows::before : 0,
            Options::dilate.rows};
  }
  /// The largest value of f(first, last), a function of the place.
  static constexpr std::size_t largest(const auto& f) {
    return std::max({f(true, true), f(true, false), f(false, true), f(false, false)});
  }
};

/// The extents of samples that a layer takes: any.
template <class X> struct any_strip {
  using type = X;
  using expected = X;
};

/// A layer whose windows reach over no edge of a strip.
template <class Layer, class Options> struct local_windows : Layer {
  template <class X> using takes = any_strip<X>;  // strip_fit explains what does not fit
  template <class X>
  using output = extents<Layer::template output<X>::static_extent(0), strip_fit<Options, X>::out_rows,
                         Layer::template output<X>::static_extent(2)>;
};

/// Base of layers whose windows reach over the edges of a strip. Each pass stops once: forward for the neighbours'
/// rows, backward for the gradients of the rows that they got.
template <class Options> struct strip_layer {
  template <class X> using fit = strip_fit<Options, X>;
  template <class X> static constexpr std::size_t saved = fit<X>::edges;
  static constexpr std::size_t reductions_per_pass = 1;
  static constexpr bool gives_channels_first = true;
  /// What two neighbours exchange for each sample.
  template <class X> static constexpr strip_traffic exchanged(bool backward, bool dx) {
    using windows = strip_windows<Options>;
    if (backward && !dx) return {};
    return {(windows::before + windows::behind) * X::static_extent(0) * X::static_extent(2), 0};
  }

 protected:
  template <class Call> using of = fit<typename Call::sample>;
  template <class Call> using element = typename Call::value_type;
  template <class Call> static strip_rows<element<Call>, typename Call::backend_type> rows_of(const Call& c) {
    const auto* const request = c.pass_of_layer().reduced;
    using windows = strip_windows<Options>;
    return {c.ordinal(),
            c.batch() * of<Call>::channels,
            of<Call>::rows,
            of<Call>::columns,
            windows::before,
            windows::behind,
            request == nullptr ? nullptr : request->rows};
  }
  /// Parts of the memory of a pass: what neighbours sent in forward, what is sent, what neighbours send in backward, an
  /// image, and what the layer needs besides.
  ///@{
  template <class X> static constexpr std::size_t scratch_of_rows = 2 * fit<X>::edges + fit<X>::image;
  template <class Call> static element<Call>* memory(auto* begin, const Call& c, std::size_t of_sample) {
    return static_cast<element<Call>*>(static_cast<void*>(begin + c.batch() * of_sample));
  }
  template <class Call> static element<Call>* kept(const Call& c) { return memory(c.saved().data(), c, 0); }
  template <class Call> static element<Call>* sent(const Call& c) { return memory(c.scratch().data(), c, 0); }
  template <class Call> static element<Call>* received(const Call& c) {
    return memory(c.scratch().data(), c, of<Call>::edges);
  }
  template <class Call> static element<Call>* image(const Call& c) {
    return memory(c.scratch().data(), c, 2 * of<Call>::edges);
  }
  template <class Call> static auto* rest(const Call& c) {
    return c.scratch().data() + c.batch() * scratch_of_rows<typename Call::sample>;
  }
  ///@}
};

/// conv2d over strips. The bits of a place's outputs and gradients are those of a convolution of its image.
template <std::size_t In, std::size_t Out, class... Options>
struct strip_conv2d : strip_layer<window_options<false, Options...>> {
 private:
  using options = window_options<false, Options...>;
  using base = strip_layer<options>;
  using whole = conv2d<In, Out, Options...>;
  template <class X> using fit = typename base::template fit<X>;
  template <class X> static constexpr devplace::detail::convolution_shape shape(bool first, bool last) {
    constexpr std::size_t groups = options::group_number;
    return {1, groups, In / groups, Out / groups, fit<X>::down(first, last), fit<X>::across};
  }

 public:
  template <class X> using output = extents<Out, fit<X>::out_rows, fit<X>::across.out>;
  static constexpr keep keeps = keep::input, frozen_keeps = keep::nothing;
  static constexpr auto parameters = whole::parameters;
  template <class X>
  static constexpr std::size_t scratch = base::template scratch_of_rows<X> + fit<X>::largest([](bool first, bool last) {
                                           return devplace::detail::convolution_scratch(shape<X>(first, last));
                                         });
  template <class X>
  static constexpr std::size_t sums = fit<X>::largest([](bool first, bool last) {
    return std::max(devplace::detail::convolution_sums(shape<X>(first, last)),
                    devplace::detail::convolution_gradient_sums(shape<X>(first, last)));
  });
  static constexpr bool has_sums = true;
  template <class X> static constexpr std::size_t multiply_adds = whole::template multiply_adds<X>;

  template <class Call> static void forward(const Call& c) {
    const auto rows = base::rows_of(c);
    if (c.phase() == 0) return rows.give_rows(c.input.data(), base::sent(c), base::kept(c));
    const typename Call::value_type* bias = nullptr;
    if constexpr (options::bias) bias = c.template parameter<1>().data();
    auto* const image = base::image(c);
    rows.make_image(image, c.input.data(), base::kept(c));
    const auto of_one = shape<typename Call::sample>(rows.is_first(), rows.is_last());
    passes_of(c, of_one).forward(c.output.data(), image, c.template parameter<0>().data(), bias,
                                 devplace::detail::epilogue::none);
  }
  template <class Call> static void backward(const Call& c) {
    const auto rows = base::rows_of(c);
    auto* const image = base::image(c);
    if (c.phase() != 0) {
      if (c.needs_input_gradient) rows.add_gradients(c.input_gradient.data(), image, base::received(c));
      return;
    }
    const auto of_one = shape<typename Call::sample>(rows.is_first(), rows.is_last());
    const auto passes = passes_of(c, of_one);
    const auto* const dy = c.output_gradient.data();
    [[maybe_unused]] const typename Call::gradient_type old = c.accumulate ? 1 : 0;  // factor of existing gradients
    if constexpr (options::bias && Call::needs_parameter_gradients)
      passes.bias_gradient(c.template parameter_gradient<1>().data(), dy, Out, of_one.pixels(), old);
    if constexpr (Call::needs_parameter_gradients) {
      rows.make_image(image, c.input.data(), base::kept(c));
      passes.weight_gradient(c.template parameter_gradient<0>().data(), dy, image, old, base::rest(c));
    }
    if (!c.needs_input_gradient) return;
    passes.input_gradient(image, dy, c.template parameter<0>().data(), nullptr);
    rows.give_gradients(image, base::sent(c), base::received(c));
  }

 private:
  template <class Call>
  static convolution_passes<Call> passes_of(const Call& c, const devplace::detail::convolution_shape& of_one) {
    return {c.ordinal(), c.batch(), of_one, {c.float_parameters(), c.float_sums()}};
  }
};

/// max_pool2d (`Largest`) or avg_pool2d over strips.
template <bool Largest, class... Options> struct strip_pool2d : strip_layer<window_options<true, Options...>> {
 private:
  using base = strip_layer<window_options<true, Options...>>;
  template <class X> using fit = typename base::template fit<X>;

 public:
  template <class X> using output = extents<fit<X>::channels, fit<X>::out_rows, fit<X>::across.out>;
  static constexpr keep keeps = Largest ? keep::input : keep::nothing;
  template <class X>
  static constexpr std::size_t scratch = base::template scratch_of_rows<X> + (Largest ? fit<X>::image : 0);

  template <class Call> static void forward(const Call& c) {
    using T = typename Call::value_type;
    const auto rows = base::rows_of(c);
    if (c.phase() == 0) return rows.give_rows(c.input.data(), base::sent(c), base::kept(c));
    auto* const image = base::image(c);
    rows.make_image(image, c.input.data(), base::kept(c));
    const auto s = shape_of(c, rows);
    if constexpr (Largest)
      run(c, s.windows(), devplace::detail::max_pool_functor<T>{s, image, c.output.data()});
    else
      run(c, s.windows(), devplace::detail::average_pool_functor<T>{s, image, c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    using T = typename Call::value_type;
    if (!c.needs_input_gradient) return;
    const auto rows = base::rows_of(c);
    auto* const gradient = base::image(c);
    if (c.phase() != 0) return rows.add_gradients(c.input_gradient.data(), gradient, base::received(c));
    const auto s = shape_of(c, rows);
    const auto* const dy = c.output_gradient.data();
    if constexpr (Largest) {
      T* const image = static_cast<T*>(static_cast<void*>(base::rest(c)));
      rows.make_image(image, c.input.data(), base::kept(c));
      run(c, s.plane(), devplace::detail::max_pool_gradient_functor<T>{s, image, dy, gradient});
    } else {
      run(c, s.plane(), devplace::detail::average_pool_gradient_functor<T>{s, dy, gradient});
    }
    rows.give_gradients(gradient, base::sent(c), base::received(c));
  }

 private:
  template <class Call> static devplace::detail::pooling_shape shape_of(const Call&, const auto& rows) {
    using of = fit<typename Call::sample>;
    return {of::down(rows.is_first(), rows.is_last()), of::across};
  }
  template <class Call> static void run(const Call& c, std::size_t plane, const auto& f) {
    devplace::detail::for_each_in_planes<typename Call::backend_type>(
        c.ordinal(), c.batch() * fit<typename Call::sample>::channels, plane, f);
  }
};

}  // namespace devplace::nn::detail
