// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/strip_rows.hpp>
#include <devplace/nn/detail/window_options.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// The windows of a layer over strips. The strips of the output are those of the input divided by the stride, so that
/// the windows of a place's rows begin `before` rows before its strip and end `behind` rows behind it.
template <class Options> struct strip_windows {
  static constexpr std::size_t reach = Options::rows.reach(), step = Options::rows.stride;
  static constexpr std::size_t before = Options::rows.padding;
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
  using type = extents<C, H, W>;
  using image_type = extents<C, windows::before + H + windows::behind, W>;
  /// The rows that are exchanged with the neighbours, and the image, in elements for one sample.
  static constexpr std::size_t edges = padded((windows::before + windows::behind) * C * W);
  static constexpr std::size_t image = padded(sample_size<image_type>);
};

/// A layer whose windows reach over no edge of a strip.
template <class Layer, class Options> struct local_windows : Layer {
  template <class X> using takes = std::type_identity<X>;  // strip_fit explains what does not fit
  template <class X> using output = typename Layer::template output<typename strip_fit<Options, X>::type>;
};

/// The call of a layer with an image in place of its strip. The rows of `image_shape`, which the layer prefers to the
/// shape of `sample`, depend on the place.
template <class Call> struct image_call : Call {
  template <class T> struct elements {
    T* first;
    T* data() const { return first; }
  };
  devplace::detail::convolution_shape image_shape;
  elements<const typename Call::value_type> input;
  elements<typename Call::value_type> input_gradient;
  elements<typename Call::accumulator_type> memory;

  elements<typename Call::accumulator_type> scratch() const { return memory; }
};

/// A layer whose windows reach over the edges of a strip: `Layer` over the images of the places. The bits of a place's
/// outputs and gradients are those of `Layer` for its image. Each pass stops once: forward for the neighbours' rows,
/// backward for the gradients of the rows that they got.
template <class Layer, class Options> struct windows_over_edges : local_windows<Layer, Options> {
 private:
  using windows = strip_windows<Options>;
  template <class X> using fit = strip_fit<Options, X>;
  static constexpr bool has_parameters = !table_of<Layer, false>().empty();
  /// A convolution has read the image when it writes the image's gradient, which so lies in the same memory. A pooling
  /// compares elements of the image while it writes.
  static constexpr std::size_t images = !has_parameters && includes(Layer::keeps, keep::input) ? 2 : 1;
  /// The memory of a pass: what is sent, what neighbours send in backward, images, and the layer's own.
  template <class X> static constexpr std::size_t own = 2 * fit<X>::edges + images * fit<X>::image;

 public:
  template <class X> static constexpr std::size_t saved = fit<X>::edges;  // rows that neighbours sent in forward
  template <class X> static constexpr std::size_t scratch = own<X> + scratch_per_sample<Layer, X>;
  template <class X> static constexpr std::size_t sums = Layer::template sums<typename fit<X>::image_type>;
  static constexpr std::size_t reductions_per_pass = 1;
  static constexpr bool plans_ahead = false;  // the shape depends on the place
  template <class Next> static constexpr bool absorbs = false;
  /// Number of elements that two neighbours exchange for each sample.
  template <class X> static constexpr strip_traffic exchanged(bool backward, bool dx) {
    if (backward && !dx) return {};
    return {(windows::before + windows::behind) * X::static_extent(0) * X::static_extent(2), 0};
  }

  template <class Call> static void forward(const Call& c) {
    const auto rows = rows_of(c);
    if (c.phase() == 0) return rows.give_rows(c.input.data());
    rows.make_image(image(c), c.input.data());
    Layer::forward(with_image(c, rows, nullptr));
  }
  template <class Call> static void backward(const Call& c) {
    if (!has_parameters && !c.needs_input_gradient) return;
    const auto rows = rows_of(c);
    auto* const gradient = image(c, images - 1);
    if (c.phase() != 0) {
      if (c.needs_input_gradient) rows.add_gradients(c.input_gradient.data(), gradient);
      return;
    }
    if constexpr (!is_not_kept<std::remove_const_t<decltype(c.input)>>) rows.make_image(image(c), c.input.data());
    Layer::backward(with_image(c, rows, c.needs_input_gradient ? gradient : nullptr));
    if (c.needs_input_gradient) rows.give_gradients(gradient);
  }

 private:
  template <class Call> static typename Call::value_type* memory(auto* begin, const Call& c, std::size_t of_sample) {
    return static_cast<typename Call::value_type*>(static_cast<void*>(begin + c.batch() * of_sample));
  }
  template <class Call> static typename Call::value_type* image(const Call& c, std::size_t index = 0) {
    using of = fit<typename Call::sample>;
    return memory(c.scratch().data(), c, 2 * of::edges + index * of::image);
  }
  template <class Call> static auto rows_of(const Call& c) {
    using X = typename Call::sample;
    const auto* const request = c.pass_of_layer().reduced;
    return strip_rows<typename Call::value_type, typename Call::backend_type>{
        c.ordinal(),
        c.batch() * X::static_extent(0),
        X::static_extent(1),
        X::static_extent(2),
        windows::before,
        windows::behind,
        request == nullptr ? nullptr : request->rows,
        memory(c.saved().data(), c, 0),
        memory(c.scratch().data(), c, 0),
        memory(c.scratch().data(), c, fit<X>::edges)};
  }
  template <class Call>
  static image_call<Call> with_image(const Call& c, const auto& rows, typename Call::value_type* gradient) {
    using X = typename Call::sample;
    auto shape = Layer::template takes<X>::shape(1, Options::group_number, Layer::template output<X>::static_extent(0));
    shape.rows.in = rows.rows_of_image();
    shape.rows.padding = rows.is_first() ? windows::before : 0;
    return {c, shape, {image(c)}, {gradient}, {c.scratch().data() + c.batch() * own<X>}};
  }
};

}  // namespace devplace::nn::detail
