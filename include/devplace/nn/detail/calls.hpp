// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn::detail {

/// The extents of one sample's result.
template <class Layer, class In>
using output_t = typename Layer::template output<In>;

/// What forward and backward of a layer have in common: views of one pass at `here<Backend>`.
template <class Layer, class In, class P, class Backend>
class call {
 public:
  using precision_type = P;
  using value_type = element_of_t<P>;
  using backend_type = Backend;
  template <class Element, class Extents>
  using view_of = devplace::view<Element, Extents, here<Backend>>;

  explicit call(const pass<P>& p) : mode(p.mode), key(p.key), pass_(p) {}

  nn::mode mode;   ///< training or prediction
  random_key key;  ///< what random numbers are keyed by
  std::size_t batch() const { return pass_.batch; }
  int ordinal() const { return pass_.ordinal; }

  /// The layer's parameter number `Index`.
  template <std::size_t Index>
  auto parameter() const {
    using entry = table_entry<Layer, Index, false>;
    return window<const value_type>(pass_.parameters + entry::offset, typename entry::extents{});
  }

  /// The layer's buffer number `Index`; forward may write it when training.
  template <std::size_t Index>
  auto buffer() const {
    using entry = table_entry<Layer, Index, true>;
    return window<value_type>(pass_.buffers + entry::offset, typename entry::extents{});
  }

  /// What forward leaves for backward, [batch, Layer::saved<In>].
  auto saved() const {
    constexpr std::size_t columns = saved_per_sample<Layer, In>();
    return window<value_type>(pass_.saved, extents<dyn, columns>{pass_.batch});
  }

  /// Memory for use inside this pass only, [batch, Layer::scratch<In>].
  auto scratch() const {
    constexpr std::size_t columns = scratch_per_sample<Layer, In>();
    return window<value_type>(pass_.scratch, extents<dyn, columns>{pass_.batch});
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

/// Argument of `Layer::forward`.
template <class Layer, class In, class P, class Backend>
class forward_call : public call<Layer, In, P, Backend> {
  using base = call<Layer, In, P, Backend>;
  using T = element_of_t<P>;

 public:
  forward_call(const pass<P>& p, const T* x, T* y)
      : base(p),
        input(this->window(x, base::template batched<In>(p.batch))),
        output(this->window(y, base::template batched<output_t<Layer, In>>(p.batch))) {}

  typename base::template view_of<const T, prepend_t<dyn, In>> input;
  typename base::template view_of<T, prepend_t<dyn, output_t<Layer, In>>> output;
};

/// Argument of `Layer::backward`.
template <class Layer, class In, class P, class Backend>
class backward_call : public call<Layer, In, P, Backend> {
  using base = call<Layer, In, P, Backend>;
  using T = element_of_t<P>;
  using out = output_t<Layer, In>;

 public:
  backward_call(const pass<P>& p, const T* x, const T* y, const T* dy, T* dx, T* gradients, bool add)
      : base(p),
        input(this->window(x, base::template batched<In>(p.batch))),
        output(this->window(y, base::template batched<out>(p.batch))),
        output_gradient(this->window(dy, base::template batched<out>(p.batch))),
        input_gradient(this->window(dx, base::template batched<In>(p.batch))),
        needs_input_gradient(dx != nullptr),
        accumulate(add),
        gradients_(gradients) {}

  typename base::template view_of<const T, prepend_t<dyn, In>> input;             ///< valid if the layer keeps it
  typename base::template view_of<const T, prepend_t<dyn, out>> output;           ///< valid if the layer keeps it
  typename base::template view_of<const T, prepend_t<dyn, out>> output_gradient;  ///< of the loss's sum
  typename base::template view_of<T, prepend_t<dyn, In>> input_gradient;          ///< null where it is not needed
  bool needs_input_gradient;
  bool accumulate;  ///< whether parameter gradients are added to those of an earlier pass

  /// The gradient of parameter number `Index`: overwrite it, or add to it where `accumulate` says so.
  template <std::size_t Index>
  auto parameter_gradient() const {
    using entry = table_entry<Layer, Index, false>;
    return this->window(gradients_ + entry::offset, typename entry::extents{});
  }

  /// Memory with the extents of the output.
  auto output_like(T* data) const { return this->window(data, base::template batched<out>(this->batch())); }

  /// Writes or adds an expression, as `accumulate` says.
  template <std::size_t Index, class Expression>
  void add_gradient(const Expression& expression) const {
    const auto gradient = parameter_gradient<Index>();
    if (accumulate)
      gradient = gradient + expression;
    else
      gradient = expression;
  }

 private:
  T* gradients_;
};

}  // namespace devplace::nn::detail
