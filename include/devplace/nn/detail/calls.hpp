// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn::detail {

/// The extents of one sample of the layer's output.
template <class Layer, class In>
using output_t = typename Layer::template output<In>;

template <class P>
using gradient_of = typename precision_traits<P>::gradient;

/// The element type of a layer's output: that of its input, `X`, if it only reshapes.
template <class Layer, class P, class X>
using output_element_t = std::conditional_t<reshapes_only<Layer>(), X, element_of_t<P>>;

/// The common part of a layer's forward and backward arguments: views of one pass at `here<Backend>`.
template <class Layer, class In, class P, class Backend>
class call {
  using roles = precision_traits<P>;

 public:
  using precision_type = P;
  using value_type = typename roles::activation;  ///< of activations and of their gradients
  using parameter_type = typename roles::working;
  using gradient_type = typename roles::gradient;  ///< of parameters
  using backend_type = Backend;
  template <class Element, class Extents>
  using view_of = devplace::view<Element, Extents, here<Backend>>;

  explicit call(const pass<P>& p) : mode(p.mode), key(p.key), pass_(p) {}

  nn::mode mode;   ///< training or prediction
  random_key key;  ///< the key of random numbers
  std::size_t batch() const { return pass_.batch; }
  int ordinal() const { return pass_.ordinal; }

  /// Parameter number `Index` of the layer.
  template <std::size_t Index>
  auto parameter() const {
    using entry = table_entry<Layer, Index, false>;
    return window<const parameter_type>(pass_.parameters + entry::offset, typename entry::extents{});
  }

  /// Buffer number `Index` of the layer; forward may write it when training.
  template <std::size_t Index>
  auto buffer() const {
    using entry = table_entry<Layer, Index, true>;
    return window(pass_.buffers + entry::offset, typename entry::extents{});
  }

  /// Memory from forward to backward, [batch, Layer::saved<In>].
  auto saved() const {
    constexpr std::size_t columns = saved_per_sample<Layer, In>();
    return window(static_cast<value_type*>(static_cast<void*>(pass_.saved)), extents<dyn, columns>{pass_.batch});
  }

  /// Memory for use within this pass, [batch, Layer::scratch<In>].
  auto scratch() const {
    constexpr std::size_t columns = scratch_per_sample<Layer, In>();
    return window(static_cast<value_type*>(static_cast<void*>(pass_.scratch)), extents<dyn, columns>{pass_.batch});
  }

 protected:
  template <class Element, class Extents>
  view_of<Element, Extents> window(Element* data, const Extents& e) const {
    return {data, e, devplace::detail::device_of<here<Backend>>{pass_.ordinal}};
  }
  template <class Sample>
  static auto batched(std::size_t batch) {
    return prepend_t<dyn, Sample>{batch};
  }

  pass<P> pass_;
};

/// The argument of `Layer::forward`, whose input has elements of type `X`.
template <class Layer, class In, class P, class Backend, class X>
class forward_call : public call<Layer, In, P, Backend> {
  using base = call<Layer, In, P, Backend>;
  using Y = output_element_t<Layer, P, X>;

 public:
  forward_call(const pass<P>& p, const void* x, void* y)
      : base(p),
        input(this->window(static_cast<const X*>(x), base::template batched<In>(p.batch))),
        output(this->window(static_cast<Y*>(y), base::template batched<output_t<Layer, In>>(p.batch))) {}

  typename base::template view_of<const X, prepend_t<dyn, In>> input;
  typename base::template view_of<Y, prepend_t<dyn, output_t<Layer, In>>> output;
};

/// The argument of `Layer::backward`.
template <class Layer, class In, class P, class Backend, class X>
class backward_call : public call<Layer, In, P, Backend> {
  using base = call<Layer, In, P, Backend>;
  using T = element_of_t<P>;
  using Y = output_element_t<Layer, P, X>;
  using out = output_t<Layer, In>;

 public:
  backward_call(const pass<P>& p, const void* x, const void* y, const void* dy, void* dx, gradient_of<P>* gradients,
                bool add)
      : base(p),
        input(this->window(static_cast<const X*>(x), base::template batched<In>(p.batch))),
        output(this->window(static_cast<const Y*>(y), base::template batched<out>(p.batch))),
        output_gradient(this->window(static_cast<const T*>(dy), base::template batched<out>(p.batch))),
        input_gradient(this->window(static_cast<T*>(dx), base::template batched<In>(p.batch))),
        needs_input_gradient(dx != nullptr),
        accumulate(add),
        gradients_(gradients) {}

  typename base::template view_of<const X, prepend_t<dyn, In>> input;             ///< valid if the layer keeps it
  typename base::template view_of<const Y, prepend_t<dyn, out>> output;           ///< valid if the layer keeps it
  typename base::template view_of<const T, prepend_t<dyn, out>> output_gradient;  ///< of the loss's sum
  typename base::template view_of<T, prepend_t<dyn, In>> input_gradient;          ///< null if not needed
  bool needs_input_gradient;
  bool accumulate;  ///< whether to add to the parameter gradients of an earlier pass

  /// The gradient of parameter number `Index`: to be overwritten, or added to if `accumulate` is true.
  template <std::size_t Index>
  auto parameter_gradient() const {
    using entry = table_entry<Layer, Index, false>;
    return this->window(gradients_ + entry::offset, typename entry::extents{});
  }

  /// A view of memory with the extents of the output.
  auto output_like(void* data) const {
    return this->window(static_cast<T*>(data), base::template batched<out>(this->batch()));
  }

  /// Writes or adds an expression, depending on `accumulate`.
  template <std::size_t Index, class Expression>
  void add_gradient(const Expression& expression) const {
    const auto gradient = parameter_gradient<Index>();
    if (accumulate)
      gradient = gradient + expression;
    else
      gradient = expression;
  }

 private:
  gradient_of<P>* gradients_;
};

}  // namespace devplace::nn::detail
