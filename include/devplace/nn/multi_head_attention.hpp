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
#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/number.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/attention.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/linear_gradients.hpp>
#include <devplace/ops/matmul.hpp>
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
  using expected = type;
};

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
  static constexpr std::size_t rounding_scratch = (Width + 1) / 2;  // elements of scratch for each position
  static constexpr std::size_t head_width = Width / (Heads == 0 ? 1 : Heads);

 public:
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::sequence_fit<X, Width>;
  template <class X> using output = typename takes<X>::type;
  static constexpr keep keeps = keep::input;
  static constexpr bool plans_ahead = true, gives_channels_first = false;
  template <class X> static constexpr std::size_t saved = (4 * Width + Heads) * takes<X>::length;
  template <class X> static constexpr std::size_t scratch = saved<X> + rounding_scratch * takes<X>::length;
  template <class X>
  static constexpr std::size_t multiply_adds = (4 * Width + 2 * takes<X>::length) * Width * takes<X>::length;
  ///@}
  /// The parameters, with PyTorch's names.
  static constexpr std::array parameters{
      parameter{"in_proj_weight", {3 * Width, Width}, init::xavier_uniform(Width, 3 * Width)},
      parameter{"in_proj_bias", {3 * Width}, init::zeros()},
      parameter{"out_proj.weight", {Width, Width}, init::fan_in_uniform(Width)},
      parameter{"out_proj.bias", {Width}, init::zeros()}};

  /// Members that layer_for requires.
  ///@{
  template <class Call> static void forward(const Call& c) {
    if constexpr (may_be_stored<Call>)
      if (forward_in<typename Call::value_type>(c)) return;
    forward_in<typename Call::accumulator_type>(c);
  }
  template <class Call> static void backward(const Call& c) {
    if constexpr (may_be_stored<Call>)
      if (backward_in<typename Call::value_type>(c)) return;
    backward_in<typename Call::accumulator_type>(c);
  }
  ///@}

 private:
  template <class Call> static constexpr std::size_t length = takes<typename Call::sample>::length;
  template <class T> static inline const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(head_width)));

  /// The arrays in `saved`, or their gradients in `scratch`: a row for each position, and a number for each position
  /// and head. In mixed precision `scratch` holds rounded projections at the address of `results`, or rounded results
  /// behind `results`, but not both at a time.
  template <class Call> struct arrays {
    using T = typename Call::accumulator_type;
    using storage_type = typename Call::value_type;
    template <class Element, std::size_t Columns>
    using matrix = view<Element, extents<dyn, Columns>, here<typename Call::backend_type>>;

    arrays(const Call& c, T* data, std::size_t between)
        : projections(matrix_at<3 * Width>(c, data)),
          results(matrix_at<Width>(c, data + projections.size())),
          sums(results.data() + results.size() + c.batch() * length<Call> * between) {}

    matrix<T, 3 * Width> projections;  ///< queries, keys and values
    matrix<T, Width> results;          ///< results of all heads
    T* sums;

    /// Arrays of elements at the same addresses, for attention of 16-bit elements.
    template <class E> auto projections_of(const Call& c) const {
      return matrix_at<3 * Width>(c, as<E>(projections.data()));
    }
    template <class E> auto results_of(const Call& c) const { return matrix_at<Width>(c, as<E>(results.data())); }

    auto rounded_projections(const Call& c) const { return matrix_at<3 * Width>(c, as<storage_type>(results.data())); }
    auto rounded_results(const Call& c) const {
      return matrix_at<Width>(c, as<storage_type>(results.data() + results.size()));
    }

   private:
    template <class Element> static Element* as(T* data) { return static_cast<Element*>(static_cast<void*>(data)); }
    template <std::size_t Columns, class Element>
    static matrix<Element, Columns> matrix_at(const Call& c, Element* data) {
      return devplace::detail::view_at<typename Call::backend_type>(c.ordinal(), data,
                                                                    extents<dyn, Columns>{c.batch() * length<Call>});
    }
  };

  /// Returns an operand of a product: the array itself or, if it is float in mixed precision, its rounded copy in
  /// `rounded`.
  template <class Array, class Rounded>
  static auto activations(const Array& x, [[maybe_unused]] const Rounded& rounded) {
    if constexpr (std::is_same_v<Array, Rounded>) {
      return x;
    } else {
      detail::flat(rounded) = cast<typename Rounded::value_type>(detail::flat(x));
      return rounded;
    }
  }

  template <class Call> static devplace::detail::attention_shape shape_of(const Call& c) {
    return {c.batch(), length<Call>, Heads, head_width, options::is_causal};
  }
  template <class Call> static auto dropout_of(const Call& c) {
    using T = typename Call::accumulator_type;
    devplace::detail::attention_dropout<T> result;
    if (options::probability == 0 || c.mode != mode::train) return result;
    result.key = devplace::detail::make_layer_key(c.key.seed, c.key.layer, c.key.step, c.key.step_on_place);
    result.first_sample = c.key.first_sample;
    result.threshold = static_cast<std::uint64_t>(options::probability * 0x1p32);
    result.scale = static_cast<T>(1 / (1 - options::probability));
    return result;
  }

  /// Compute attention of elements T: those in which the layer stores activations, or accumulators. Return false if
  /// neither a library nor kernels take T for this shape.
  template <class T, class Call> static bool forward_in(const Call& c) {
    if (!kernels_take<T, Call> && !library_takes<T>(c)) return false;
    const arrays<Call> a(c, c.saved().data(), 0), d(c, c.scratch().data(), rounding_scratch);
    const auto [in_weight, in_bias, out_weight, out_bias] = c.parameters();
    const auto projections = a.template projections_of<T>(c);
    const auto results = a.template results_of<T>(c);
    if constexpr (std::is_same_v<T, typename Call::value_type>) {
      multiply(c, projections, detail::rows(c.input), in_weight, in_bias);
    } else {
      const auto rounded = d.rounded_projections(c);
      multiply(c, rounded, detail::rows(c.input), in_weight, in_bias);
      detail::flat(projections) = cast<T>(detail::flat(rounded));
    }
    const devplace::detail::attention_arguments<T> arguments{
        shape_of(c), scale<typename Call::accumulator_type>, dropout_of(c), projections.data(), results.data(), a.sums};
    if (!run<op::attention>(c, arguments)) return false;
    multiply(c, detail::rows(c.output), activations(results, d.rounded_results(c)), out_weight, out_bias);
    return true;
  }
  template <class T, class Call> static bool backward_in(const Call& c) {
    using P = typename Call::precision_type;
    if (!kernels_take<T, Call> && !library_takes<T>(c)) return false;
    const arrays<Call> a(c, c.saved().data(), 0), d(c, c.scratch().data(), rounding_scratch);
    const auto [in_weight, in_bias, out_weight, out_bias] = c.parameters();
    const auto [in_weight_gradient, in_bias_gradient, out_weight_gradient, out_bias_gradient] = c.parameter_gradients();
    const typename Call::gradient_type old = c.accumulate ? 1 : 0;  // factor of existing parameter gradients
    const auto dy = detail::rows(c.output_gradient);
    const auto results = a.template results_of<T>(c), dresults = d.template results_of<T>(c);
    const auto projections_gradient = d.template projections_of<T>(c);
    devplace::detail::linear_gradients_into<P>(out_weight_gradient, out_bias_gradient, dy,
                                               activations(results, d.rounded_results(c)), old);
    matmul_into(dresults, dy, out_weight, matmul_options<P>{});
    run<op::attention_gradient>(c, devplace::detail::attention_gradient_arguments<T>{
                                       shape_of(c), scale<typename Call::accumulator_type>, dropout_of(c),
                                       a.template projections_of<T>(c).data(), results.data(), a.sums, dresults.data(),
                                       projections_gradient.data(), d.sums});
    const auto dprojections = activations(projections_gradient, d.rounded_projections(c));
    devplace::detail::linear_gradients_into<P>(in_weight_gradient, in_bias_gradient, dprojections,
                                               detail::rows(c.input), old);
    if (c.needs_input_gradient)
      matmul_into(detail::rows(c.input_gradient), dprojections, in_weight, matmul_options<P>{});
    return true;
  }

  /// Whether kernels, or a library, take elements T.
  template <class T, class Call>
  static constexpr bool kernels_take = std::is_same_v<T, typename Call::accumulator_type> || requires {
    requires implementation<typename Call::backend_type, op::attention_in_16_bits>::computes(head_width);
  };
  template <class T, class Call>
  static constexpr bool may_have_library = !std::is_same_v<T, typename Call::accumulator_type> &&
                                           devplace::detail::provided<typename Call::backend_type, op::mixed_attention>;
  template <class Call>
  static constexpr bool may_be_stored =
      kernels_take<typename Call::value_type, Call> || may_have_library<typename Call::value_type, Call>;
  template <class T, class Call> static bool library_takes([[maybe_unused]] const Call& c) {
    if constexpr (may_have_library<T, Call>) {
      const bool training = c.mode == mode::train;
      return (options::probability == 0 || !training) &&
             implementation<typename Call::backend_type, op::mixed_attention>::template computes<T>(
                 c.ordinal(), shape_of(c), scale<float>, training);
    } else {
      return false;
    }
  }

  static void multiply(const auto& c, const auto& y, const auto& x, const auto& weight, const auto& bias) {
    using P = typename std::remove_cvref_t<decltype(c)>::precision_type;
    matmul_into(y, x, transposed(weight), matmul_options<P>{.bias = bias.data()});
  }

  /// Runs attention or its gradient. Returns false if the library fails and kernels do not compute it.
  template <class Op, class Call, template <class> class Arguments, class T>
  static bool run(const Call& c, const Arguments<T>& arguments) {
    if constexpr (may_have_library<T, Call>)
      if (library_takes<T>(c) &&
          implementation<typename Call::backend_type, op::mixed_attention>::run(c.ordinal(), arguments))
        return true;
    if constexpr (kernels_take<T, Call>)
      if (c.batch() != 0)
        devplace::detail::dispatch<Op, typename Call::backend_type>(c.ordinal(), arguments,
                                                                    devplace::detail::columns_of_head<columns>{});
    return kernels_take<T, Call>;
  }
  static constexpr unsigned columns = static_cast<unsigned>(devplace::detail::divided_up(head_width, 32));
};

}  // namespace devplace::nn
