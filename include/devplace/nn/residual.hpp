// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// x + f(x), where f is the sequence of layers, whose output extents must equal its input extents. Parameters are named
/// by position: `1.0.weight` belongs to the first layer of a residual at position 1.
template <class... Layers>
struct residual {
  static_assert(sizeof...(Layers) > 0, "devplace: residual needs at least one layer.");
};

namespace detail {

template <class First, class... Rest>
struct network_input<residual<First, Rest...>> : network_input<First> {};

template <class In, class... Layers>
struct layer_plan<residual<Layers...>, In> : layer_plan<sequential<Layers...>, In> {
 private:
  using inside = layer_plan<sequential<Layers...>, In>;
  static_assert(std::same_as<typename inside::output, In>,
                "devplace: residual adds its layers' result to its input, so both must have the same extents.");
  static_assert(!inside::own_input_elements,
                "devplace: residual adds its layers' result to its input, so its first layer must take activations, "
                "not elements of its own type (input_element).");
  static constexpr std::size_t result_bytes(std::size_t batch, const element_sizes& e) {
    return padded_bytes(sample_size<In> * batch * e.activation);
  }
  template <class P>
  static constexpr element_sizes sizes{sizeof(element_of_t<P>), sizeof(element_of_t<P>)};

  /// The layers' result before the addition is stored in the pass's saved memory (in scratch when predicting).
  template <class P>
  static pass<P> inner(const pass<P>& p) {
    pass<P> result = p;
    if (p.mode == mode::train) result.saved = p.saved + result_bytes(p.batch, sizes<P>);
    result.scratch = p.scratch + result_bytes(p.batch, sizes<P>);
    return result;
  }
  template <class P>
  static void* inner_result(const pass<P>& p) {
    return p.mode == mode::train ? p.saved : p.scratch;
  }
  template <class Element, class Backend, class P, class Address>
  static auto window(const pass<P>& p, Address* data) {
    return devplace::detail::view_at<Backend>(p.ordinal, static_cast<Element*>(data),
                                              extents<dyn>{sample_size<In> * p.batch});
  }
  /// to = a + b
  template <class Backend, class P>
  static void add(const pass<P>& p, void* to, const void* a, const void* b) {
    using T = element_of_t<P>;
    window<T, Backend>(p, to) = window<const T, Backend>(p, a) + window<const T, Backend>(p, b);
  }

 public:
  static constexpr keep keeps = includes(inside::keeps, keep::input) ? keep::input : keep::nothing;
  static constexpr bool keeps_elements = false;

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return m == mode::train ? result_bytes(batch, e) + inside::saved_bytes(batch, m, e) : 0;
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return result_bytes(batch, e) + inside::scratch_bytes(batch, m, e);
  }

  template <class Backend, class X, class P>
  static void forward(const pass<P>& p, const void* x, void* y) {
    void* result = inner_result(p);
    inside::template forward<Backend, X>(inner(p), x, result);
    add<Backend>(p, y, x, result);
  }

  template <class Backend, class X, class P, class After = runtime::nothing_after>
  static void backward(const pass<P>& p, const void* x, const void*, const void* dy, void* dx,
                       gradient_of<P>* gradients, bool accumulate, After after = {}) {
    void* inner_gradient = dx == nullptr ? nullptr : p.scratch;
    inside::template backward<Backend, X>(inner(p), x, inner_result(p), dy, inner_gradient, gradients, accumulate,
                                          after);
    if (dx != nullptr) add<Backend>(p, dx, dy, inner_gradient);
  }
};

}  // namespace detail
}  // namespace devplace::nn
