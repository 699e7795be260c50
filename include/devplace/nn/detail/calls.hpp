// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn::detail {

template <class Layer, class In> using output_t = typename Layer::template output<In>;

template <class P> using gradient_of = typename precision_traits<P>::gradient;
template <class P> using accumulator_of = typename precision_traits<P>::accumulator;

/// The sizes of elements in precision P, with an input of elements X.
template <class X, class P>
inline constexpr element_sizes sizes_of{sizeof(X), sizeof(element_of_t<P>), sizeof(accumulator_of<P>)};

/// The element type of a layer's output: the input's type `X` if the layer only reshapes, else the activations' type.
template <class Layer, class P, class X>
using output_element_t = std::conditional_t<reshapes_only<Layer>(), X, element_of_t<P>>;

/// Has extents but no elements; stands in for an activation that the layer does not keep for backward.
template <class View> class not_kept : View {
 public:
  using typename View::extents_type;
  using typename View::value_type;
  using View::rank;

  constexpr not_kept(const View& activation) : View(activation) {}
  using View::extent;
  using View::extents;
  using View::ordinal;
  using View::size;
};

/// The address of elements whose type is erased.
template <class Element> using erased_address = std::conditional_t<std::is_const_v<Element>, const void, void>*;

/// A view of a batch of samples. A free function, so that layers share its instantiations. The extents are made from
/// their bits, without a check that the batch can be addressed: its memory exists.
template <class Backend, class Element, class Sample>
view<Element, prepend_t<dyn, Sample>, here<Backend>> batch_at(int ordinal, std::size_t batch,
                                                              erased_address<Element> data) {
  return {static_cast<Element*>(data), std::bit_cast<prepend_t<dyn, Sample>>(batch),
          devplace::detail::device_of<here<Backend>>{ordinal}};
}

/// The argument of `Layer::forward`, and base of the argument of `Layer::backward`: views of one pass at
/// `here<Backend>`. Elements of the input have type `X`; elements of the output have type `Y`, which is const in
/// backward.
template <class Layer, class In, class P, class Backend, class X, class Y = output_element_t<Layer, P, X>> class call {
  using roles = precision_traits<P>;

 protected:
  using out = output_t<Layer, In>;
  static constexpr bool is_backward = std::is_const_v<Y>;
  template <keep Part, class View>
  using kept_as = std::conditional_t<is_backward && !includes(keeps_of<Layer>, Part), not_kept<View>, View>;

 public:
  using precision_type = P;
  using value_type = typename roles::activation;  ///< element type of activations and of their gradients
  using parameter_type = typename roles::working;
  using gradient_type = typename roles::gradient;        ///< element type of parameter gradients
  using accumulator_type = typename roles::accumulator;  ///< type of sums and intermediate results
  using backend_type = Backend;
  using sample = In;  ///< the extents of one sample of the input
  template <class Element, class Sample> using samples_of = view<Element, prepend_t<dyn, Sample>, here<Backend>>;

  call(const pass<P>& p, const void* x, erased_address<Y> y)
      : mode(p.mode),
        key(p.key),
        input(batch_at<Backend, const X, In>(p.ordinal, p.batch, x)),
        output(batch_at<Backend, Y, out>(p.ordinal, p.batch, y)),
        pass_(p) {}

  nn::mode mode;          ///< training or prediction
  const random_key& key;  ///< the key of random numbers
  [[gnu::always_inline]] std::size_t batch() const { return pass_.batch; }
  /// For layers that compute over the samples of all places: the number of all samples, whether this is the first
  /// place, the layer's phase, and a request to reduce numbers over the places before the next phase.
  ///@{
  std::size_t samples() const { return pass_.samples; }
  bool is_first() const { return pass_.first; }
  std::size_t phase() const { return pass_.phase; }
  void reduce(std::int64_t* numbers, std::size_t count, reduction op) const {
    if (pass_.reduced != nullptr) *pass_.reduced = {numbers, count, op};
  }
  ///@}
  [[gnu::always_inline]] int ordinal() const { return pass_.ordinal; }
  /// The pass as run-time values, for code that layers of all sizes share.
  [[gnu::always_inline]] const pass<P>& pass_of_layer() const { return pass_; }

  kept_as<keep::input, samples_of<const X, In>> input;  ///< not_kept in backward unless the layer keeps the input
  kept_as<keep::output, samples_of<Y, out>> output;     ///< not_kept in backward unless the layer keeps the output

  /// Parameter number `Index` of the layer.
  template <std::size_t Index> [[gnu::always_inline]] auto parameter() const {
    return entry_in<Index, false>(pass_.parameters);
  }

  /// Parameter number `Index` in the optimizer's type: float in mixed precision.
  template <std::size_t Index> auto master_parameter() const {
    static_assert(reads_masters<Layer>,
                  "devplace: a layer that reads c.master_parameter<I>() declares static constexpr bool reads_masters = "
                  "true, so that models in shares gather these parameters in the optimizer's type, too.");
    return entry_in<Index, false>(pass_.master_parameters);
  }

  /// All parameters: `auto [weight, bias] = c.parameters()`.
  auto parameters() const {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::tuple{parameter<Index>()...};
    }(std::make_index_sequence<Layer::parameters.size()>{});
  }

  /// In passes through some rows of the first parameter: the rows, parameter number `Index`, which lies behind them,
  /// and Layer::row_sums<In> numbers for each sample; see layer_for.
  ///@{
  runtime::row_range rows() const { return pass_.rows; }
  template <std::size_t Index> const parameter_type* parameter_behind() const {
    return pass_.behind_rows + (table_entry<Layer, Index, false>::offset - table_entry<Layer, 1, false>::offset);
  }
  accumulator_type* row_sums() const { return pass_.row_sums; }
  ///@}

  /// Buffer number `Index` of the layer; forward may write it when training.
  template <std::size_t Index> auto buffer() const { return entry_in<Index, true>(pass_.buffers); }

  /// Memory that lasts from forward to backward, [batch, Layer::saved<In>].
  auto saved() const {
    return batch_at<Backend, accumulator_type, extents<saved_per_sample<Layer, In>>>(ordinal(), batch(), pass_.saved);
  }

  /// Memory that lasts from forward to backward, for the whole batch: Layer::statistics<In> elements.
  auto* statistics() const {
    void* const behind = pass_.saved + padded_bytes(saved_per_sample<Layer, In> * batch() * sizeof(accumulator_type));
    return static_cast<accumulator_type*>(behind);
  }

  /// Memory that lasts for this pass, [batch, Layer::scratch<In>].
  auto scratch() const {
    return batch_at<Backend, accumulator_type, extents<scratch_per_sample<Layer, In>>>(ordinal(), batch(),
                                                                                       pass_.scratch);
  }

  /// Return the float arrays that layers with a member `sums` get if activations have 16 bits: one has as many elements
  /// as the parameters, the other has `sums` elements for each sample.
  ///@{
  accumulator_type* float_parameters() const {
    void* const behind =
        pass_.scratch + padded_bytes(scratch_per_sample<Layer, In> * batch() * sizeof(accumulator_type));
    return static_cast<accumulator_type*>(behind);
  }
  accumulator_type* float_sums() const {
    constexpr element_sizes e{0, sizeof(value_type), sizeof(accumulator_type)};
    return float_parameters() + float_parameter_bytes<Layer>(e) / sizeof(accumulator_type);
  }
  ///@}

 protected:
  template <std::size_t Index, bool Buffer, class Element> [[gnu::always_inline]] auto entry_in(Element* arena) const {
    using entry = table_entry<Layer, Index, Buffer>;
    static_assert(entry::exists, "devplace: the layer has no parameter (or buffer) with this index.");
    return devplace::detail::view_at<Backend>(ordinal(), arena + entry::offset, typename entry::extents{});
  }

  const pass<P>& pass_;
};

template <class Layer, class In, class P, class Backend, class X> using forward_call = call<Layer, In, P, Backend, X>;

/// The argument of `Layer::backward`.
template <class Layer, class In, class P, class Backend, class X>
class backward_call : public call<Layer, In, P, Backend, X, const output_element_t<Layer, P, X>> {
  using base = call<Layer, In, P, Backend, X, const output_element_t<Layer, P, X>>;
  using T = typename base::value_type;
  using typename base::out;

 public:
  backward_call(const pass<P>& p, const backward_arguments<P>& a)
      : base(p, a.x, a.y),
        output_gradient(batch_at<Backend, const T, out>(p.ordinal, p.batch, a.dy)),
        input_gradient(batch_at<Backend, T, In>(p.ordinal, p.batch, a.dx)),
        next_weight(a.next_weight),
        next_outputs(a.next_outputs),
        needs_input_gradient(a.dx != nullptr),
        accumulate(a.add),
        gradients_(a.gradients) {}

  typename base::template samples_of<const T, out> output_gradient;     ///< gradient of the sum of losses
  typename base::template samples_of<T, In> input_gradient;             ///< null if not needed
  const typename base::parameter_type* next_weight;                     ///< see backward_arguments
  std::size_t next_outputs;                                             ///< see backward_arguments
  static constexpr bool needs_parameter_gradients = !is_frozen<Layer>;  ///< false in nn::frozen
  bool needs_input_gradient;
  bool accumulate;  ///< whether to add to the parameter gradients of an earlier pass

  /// The gradient of parameter number `Index`, which backward overwrites, or adds to if `accumulate` is true.
  template <std::size_t Index> [[gnu::always_inline]] auto parameter_gradient() const {
    return base::template entry_in<Index, false>(gradients_);
  }

  /// The gradients of all parameters: `auto [weight_gradient, bias_gradient] = c.parameter_gradients()`.
  auto parameter_gradients() const {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::tuple{parameter_gradient<Index>()...};
    }(std::make_index_sequence<Layer::parameters.size()>{});
  }

  /// A view of memory with the extents of the output.
  template <class Address> auto output_like(Address* data) const {
    return batch_at<Backend, std::conditional_t<std::is_const_v<Address>, const T, T>, out>(base::ordinal(),
                                                                                            base::batch(), data);
  }

  /// Writes an expression to the gradient of parameter number `Index`, or adds it, depending on `accumulate`.
  template <std::size_t Index, class Expression> void add_gradient(Expression&& expression) const {
    const auto gradient = parameter_gradient<Index>();
    if (accumulate)
      gradient = gradient + std::forward<Expression>(expression);
    else
      gradient = std::forward<Expression>(expression);
  }

 private:
  gradient_of<P>* gradients_;
};

template <class T> inline constexpr bool is_not_kept = false;
template <class View> inline constexpr bool is_not_kept<not_kept<View>> = true;

/// Types that a layer may use as an operand by mistake: the layer's call (PyTorch passes a tensor in its place), and an
/// activation that is not kept.
template <class T> inline constexpr bool is_no_operand = is_not_kept<T>;
template <class Layer, class In, class P, class Backend, class X, class Y>
inline constexpr bool is_no_operand<call<Layer, In, P, Backend, X, Y>> = true;
template <class Layer, class In, class P, class Backend, class X>
inline constexpr bool is_no_operand<backward_call<Layer, In, P, Backend, X>> = true;

/// The result of an operator on a call. A layer whose forward returns no_value is rejected, since forward must return
/// void.
struct no_value {};

template <class A, class B>
concept rejected_operands = is_no_operand<A> || is_no_operand<B>;

template <class A, class B> auto reject_operands() {
  constexpr bool kept = !is_not_kept<A> && !is_not_kept<B>;
  static_assert(kept,
                "devplace: backward: the layer does not keep this activation; add the activations that backward reads "
                "to the layer's constant `keeps`, or remove the constant to keep input and output.");
  return std::conditional_t<kept, no_value, float>{};  // a number, so that the rest of the expression compiles
}

// The operators are not defined by a macro, because compilers would print the macro in each message.
template <class B, rejected_operands<B> A> auto operator+(const A&, const B&) { return reject_operands<A, B>(); }
template <class B, rejected_operands<B> A> auto operator-(const A&, const B&) { return reject_operands<A, B>(); }
template <class B, rejected_operands<B> A> auto operator*(const A&, const B&) { return reject_operands<A, B>(); }
template <class B, rejected_operands<B> A> auto operator/(const A&, const B&) { return reject_operands<A, B>(); }

}  // namespace devplace::nn::detail
