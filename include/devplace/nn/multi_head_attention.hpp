// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/attention.hpp>
#include <devplace/ops/linear_gradients.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/runtime/round_elements.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

/// An option of attention: a position attends to itself and to earlier positions.
struct causal {};

/// An option of attention: in training each probability is set to 0 with probability P, a std::ratio, and otherwise
/// multiplied by 1 / (1 - P).
template <class P> struct attention_dropout {
  static_assert(detail::is_probability<P>,
                "devplace: attention_dropout takes its probability as a ratio, at least 0 and below 1: "
                "attention_dropout<std::ratio<1, 10>> for 10 %.");
};

/// Stands, in error messages, for sequences of any length with `Width` elements at each position.
template <std::size_t Width> struct sequences_of;

namespace detail {

template <class Option> inline constexpr bool is_attention_dropout = false;
template <class P> inline constexpr bool is_attention_dropout<attention_dropout<P>> = true;

template <class Option> inline constexpr double dropout_probability = 0;
template <class P> inline constexpr double dropout_probability<attention_dropout<P>> = number_of<P>;

template <class... Options> struct attention_options {
  static constexpr std::size_t causals = (std::size_t{std::is_same_v<Options, causal>} + ... + 0);
  static constexpr std::size_t dropouts = (std::size_t{is_attention_dropout<Options>} + ... + 0);
  static constexpr bool known = causals <= 1 && dropouts <= 1 && causals + dropouts == sizeof...(Options);
  static constexpr bool is_causal = causals != 0;
  static constexpr double probability = (dropout_probability<Options> + ... + 0.0);
};

/// The input extents of attention: `X` if they fit, else a stand-in.
template <class X, std::size_t Width> struct sequence_fit {
  static constexpr std::size_t length = 1;
  using type = extents<1, Width>;
  using expected = sequences_of<Width>;
};
template <std::size_t Length, std::size_t Width> struct sequence_fit<extents<Length, Width>, Width> {
  static constexpr std::size_t length = Length;
  using type = extents<Length, Width>;
};

/// The passes of attention layers on contiguous arrays. Sizes are run-time values and functions are not inlined, so
/// that layers of all sizes share the code. `Columns`: see columns_of_head; `In16Bits`: whether the backend's kernels
/// take heads of 16-bit elements.
///
/// `saved` has a row for each position of queries, keys and values, followed by the results of all heads, in the type
/// in which attention is computed, and a number for each position and head. `scratch` has the gradients of these; in
/// mixed precision, rounded projections at the address of the results, or rounded results behind the results, but not
/// both at a time.
template <class P, class Backend, unsigned Columns, bool In16Bits> struct attention_passes {
  using T = element_of_t<P>;
  using accumulator = accumulator_of<P>;
  using gradient = gradient_of<P>;

  int ordinal;
  devplace::detail::attention_shape shape;
  devplace::detail::attention_dropout<accumulator> dropout;
  bool training;
  const T* input;
  std::array<const T*, 4> parameters;
  accumulator* saved;
  accumulator* scratch;

  void forward(T* output) const {
    if constexpr (may_be_stored)
      if (forward_in<T>(output)) return;
    forward_in<accumulator>(output);
  }
  /// `gradients` are those of the parameters; each becomes the gradient plus beta times its old value.
  void backward(const T* dy, T* dx, const std::array<gradient*, 4>& gradients, gradient beta) const {
    if constexpr (may_be_stored)
      if (backward_in<T>(dy, dx, gradients, beta)) return;
    backward_in<accumulator>(dy, dx, gradients, beta);
  }
  /// Compute attention of elements E: those in which the layer stores activations, or accumulators. Return false if
  /// neither a library nor kernels take E for this shape. Defined outside of the class and so not inline, for component
  /// compiled.
  ///@{
  template <class E> bool forward_in(T* output) const;
  template <class E>
  bool backward_in(const T* dy, T* dx, const std::array<gradient*, 4>& gradients, gradient beta) const;
  ///@}

 private:
  /// Whether kernels, or a library, take elements E.
  ///@{
  template <class E> static constexpr bool kernels_take = std::is_same_v<E, accumulator> || In16Bits;
  template <class E>
  static constexpr bool may_have_library =
      !std::is_same_v<E, accumulator> && devplace::detail::provided<Backend, op::mixed_attention>;
  static constexpr bool may_be_stored = kernels_take<T> || may_have_library<T>;
  template <class E> bool library_takes() const {
    if constexpr (may_have_library<E>)
      return !dropout.drops() &&
             implementation<Backend, op::mixed_attention>::template computes<E>(ordinal, shape, scale(), training);
    else
      return false;
  }
  ///@}
  /// Runs attention or its gradient. Returns false if the library fails and kernels do not compute it.
  template <class Op, template <class> class Arguments, class E> bool run(const Arguments<E>& arguments) const {
    if constexpr (may_have_library<E>)
      if (library_takes<E>() && implementation<Backend, op::mixed_attention>::run(ordinal, arguments)) return true;
    if constexpr (kernels_take<E>)
      if (shape.samples != 0)
        devplace::detail::dispatch<Op, Backend>(ordinal, arguments, devplace::detail::columns_of_head<Columns>{});
    return kernels_take<E>;
  }

  accumulator scale() const { return static_cast<accumulator>(1 / std::sqrt(static_cast<double>(shape.width))); }
  std::size_t rows() const { return shape.samples * shape.length; }
  std::size_t size() const { return rows() * shape.row(); }  ///< elements of the layer's output
  auto products(std::size_t outputs) const {
    return devplace::detail::linear_products<P, Backend>{ordinal, rows(), shape.row(), outputs};
  }

  template <class E> static E* as(accumulator* data) { return static_cast<E*>(static_cast<void*>(data)); }
  /// Returns an operand of a product: the array itself or, if it is float in mixed precision, its rounded copy.
  template <class E> const T* rounded(const E* x, std::size_t n, [[maybe_unused]] accumulator* to) const {
    if constexpr (std::is_same_v<E, T>) {
      return x;
    } else {
      runtime::round_elements<Backend>(ordinal, as<T>(to), x, n);
      return as<T>(to);
    }
  }
};

template <class P, class Backend, unsigned Columns, bool In16Bits>
template <class E>
bool attention_passes<P, Backend, Columns, In16Bits>::forward_in(T* output) const {
  if (!kernels_take<E> && !library_takes<E>()) return false;
  E* const projections = as<E>(saved);
  E* const results = as<E>(saved + 3 * size());
  T* const projected = as<T>(std::is_same_v<E, T> ? saved : scratch + 3 * size());
  products(3 * shape.row()).forward(projected, input, parameters[0], parameters[1], devplace::detail::epilogue::none);
  if constexpr (!std::is_same_v<E, T>) runtime::round_elements<Backend>(ordinal, projections, projected, 3 * size());
  if (!run<op::attention>(
          devplace::detail::attention_arguments<E>{shape, scale(), dropout, projections, results, saved + 4 * size()}))
    return false;
  products(shape.row())
      .forward(output, rounded(results, size(), scratch + 4 * size()), parameters[2], parameters[3],
               devplace::detail::epilogue::none);
  return true;
}

template <class P, class Backend, unsigned Columns, bool In16Bits>
template <class E>
bool attention_passes<P, Backend, Columns, In16Bits>::backward_in(const T* dy, T* dx,
                                                                  const std::array<gradient*, 4>& gradients,
                                                                  gradient beta) const {
  if (!kernels_take<E> && !library_takes<E>()) return false;
  const E* const results = as<E>(saved + 3 * size());
  E* const dresults = as<E>(scratch + 3 * size());
  E* const dprojections = as<E>(scratch);
  products(shape.row())
      .parameter_gradients(gradients[2], gradients[3], dy, rounded(results, size(), scratch + 4 * size()), beta);
  products(shape.row()).input_gradient(dresults, dy, parameters[2]);
  run<op::attention_gradient>(devplace::detail::attention_gradient_arguments<E>{
      shape, scale(), dropout, as<E>(saved), results, saved + 4 * size(), dresults, dprojections,
      scratch + 4 * size() + rows() * ((shape.row() + 1) / 2)});
  const T* const in_gradient = rounded(dprojections, 3 * size(), scratch + 3 * size());
  products(3 * shape.row()).parameter_gradients(gradients[0], gradients[1], in_gradient, input, beta);
  products(3 * shape.row()).input_gradient(dx, in_gradient, parameters[0]);
  return true;
}

}  // namespace detail

/// Self-attention of the positions of a sequence, with Heads heads of Width / Heads elements, on samples [length,
/// Width] of any length: torch.nn.MultiheadAttention(Width, Heads, batch_first=True)(x, x, x). Parameters:
/// `in_proj_weight` [3 Width, Width] of queries, keys and values, xavier_uniform; `in_proj_bias` [3 Width], zeros;
/// `out_proj.weight` [Width, Width], as in linear; `out_proj.bias` [Width], zeros. Options are types, in any order.
/// With `causal`, positions attend only to themselves and to earlier positions. `attention_dropout<std::ratio<1, 10>>`
/// drops probabilities in training, depending on the sample's index in the whole batch, not on places or threads.
///
/// Computes probabilities block by block, and again in backward, instead of storing them: memory is proportional to the
/// length (ops/attention.hpp). Keeps queries, keys, values and results for backward, and one number for each head and
/// position. In mixed precision the projections are products of 16-bit elements, rounded to 16 bits. Attention itself
/// is computed in float or, on GPUs for most sizes, by products of 16-bit elements with scores, probabilities and sums
/// in float (docs/cuda.md).
template <std::size_t Width, std::size_t Heads, class... Options> struct multi_head_attention {
 private:
  using options = detail::attention_options<Options...>;
  static_assert(detail::check_sizes<Width, Heads>());
  static_assert(options::known,
                "devplace: multi_head_attention's options are causal and attention_dropout<std::ratio<1, 10>>, each at "
                "most once: multi_head_attention<64, 4, causal>.");
  static constexpr bool divides = Heads > 0 && Width > 0 && Width % (Heads == 0 ? 1 : Heads) == 0;
  static_assert(divides,
                "devplace: multi_head_attention<Width, Heads>: the width is divided among the heads, so it must be a "
                "multiple of their number, and not 0.");
  static constexpr std::size_t head_width = Width / (Heads == 0 ? 1 : Heads);

 public:
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::sequence_fit<X, Width>;
  template <class X> using output = typename takes<X>::type;
  static constexpr keep keeps = keep::input;
  static constexpr bool plans_ahead = true, gives_channels_first = false;
  template <class X> static constexpr std::size_t saved = (4 * Width + Heads) * takes<X>::length;
  template <class X> static constexpr std::size_t scratch = saved<X> + (Width + 1) / 2 * takes<X>::length;
  template <class X>
  static constexpr std::size_t multiply_adds = (4 * Width + 2 * takes<X>::length) * Width * takes<X>::length;
  static constexpr std::array parameters{
      parameter{"in_proj_weight", {3 * Width, Width}, init::xavier_uniform(Width, 3 * Width)},
      parameter{"in_proj_bias", {3 * Width}, init::zeros()},
      parameter{"out_proj.weight", {Width, Width}, init::fan_in_uniform(Width)},
      parameter{"out_proj.bias", {Width}, init::zeros()}};

  static void forward(const auto& c) { passes_of(c).forward(c.output.data()); }
  static void backward(const auto& c) {
    passes_of(c).backward(c.output_gradient.data(), c.input_gradient.data(),
                          {c.template parameter_gradient<0>().data(), c.template parameter_gradient<1>().data(),
                           c.template parameter_gradient<2>().data(), c.template parameter_gradient<3>().data()},
                          c.accumulate ? 1 : 0);
  }
  ///@}

 private:
  static constexpr unsigned columns = static_cast<unsigned>(devplace::detail::divided_up(head_width, 32));
  template <class Backend>
  static constexpr bool in_16_bits =
      requires { requires implementation<Backend, op::attention_in_16_bits>::computes(head_width); };

  template <class Call> static auto passes_of(const Call& c) {
    using T = typename Call::accumulator_type;
    using backend_type = typename Call::backend_type;
    devplace::detail::attention_dropout<T> dropout;
    if (options::probability != 0 && c.mode == mode::train) {
      dropout.key = devplace::detail::make_layer_key(c.key.seed, c.key.layer, c.key.step, c.key.step_on_place);
      dropout.first_sample = c.key.first_sample;
      dropout.threshold = static_cast<std::uint64_t>(options::probability * 0x1p32);
      dropout.scale = static_cast<T>(1 / (1 - options::probability));
    }
    return detail::attention_passes<typename Call::precision_type, backend_type,
                                    std::is_same_v<backend_type, backend::cpu> ? 1 : columns, in_16_bits<backend_type>>{
        c.ordinal(),
        {c.batch(), takes<typename Call::sample>::length, Heads, head_width, options::is_causal},
        dropout,
        c.mode == mode::train,
        c.input.data(),
        {c.template parameter<0>().data(), c.template parameter<1>().data(), c.template parameter<2>().data(),
         c.template parameter<3>().data()},
        c.saved().data(),
        c.scratch().data()};
  }
};

}  // namespace devplace::nn
