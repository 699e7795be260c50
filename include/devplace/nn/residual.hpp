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
struct layer_plan<residual<Layers...>, In> {
 private:
  using inside = layer_plan<sequential<Layers...>, In>;
  static_assert(std::same_as<typename inside::output, In>,
                "devplace: residual adds its layers' result to its input, so both must have the same extents.");
  static constexpr std::size_t result_elements(std::size_t batch) { return padded(sample_size<In> * batch); }

  /// The layers' result before the addition is stored in the pass's saved memory (in scratch when predicting).
  template <class P>
  static pass<P> inner(const pass<P>& p) {
    pass<P> result = p;
    if (p.mode == mode::train) result.saved = p.saved + result_elements(p.batch);
    result.scratch = p.scratch + result_elements(p.batch);
    return result;
  }
  template <class P>
  static element_of_t<P>* inner_result(const pass<P>& p) {
    return p.mode == mode::train ? p.saved : p.scratch;
  }
  template <class Backend, class P>
  static auto window(const pass<P>& p, auto* data) {
    return devplace::view<std::remove_pointer_t<decltype(data)>, extents<dyn, sample_size<In>>, here<Backend>>(
        data, extents<dyn, sample_size<In>>{p.batch}, devplace::detail::device_of<here<Backend>>{p.ordinal});
  }

 public:
  using layer_type = void;
  using output = In;
  static constexpr keep keeps = includes(inside::keeps, keep::input) ? keep::input : keep::nothing;
  static constexpr bool in_place = false;
  static constexpr bool reshapes = false;
  static constexpr std::size_t layers = inside::layers;
  static constexpr std::size_t parameters = inside::parameters;
  static constexpr std::size_t parameter_elements = inside::parameter_elements;
  static constexpr std::size_t buffer_elements = inside::buffer_elements;

  template <std::size_t Base>
  using entries = typename inside::template entries<Base>;

  static constexpr std::size_t saved_elements(std::size_t batch, mode m) {
    return m == mode::train ? result_elements(batch) + inside::saved_elements(batch, m) : 0;
  }
  static constexpr std::size_t scratch_elements(std::size_t batch, mode m) {
    return result_elements(batch) + inside::scratch_elements(batch, m);
  }

  template <class Backend, class P, class T>
  static void forward(const pass<P>& p, const T* x, T* y) {
    T* result = inner_result(p);
    inside::template forward<Backend>(inner(p), x, result);
    window<Backend>(p, y) = window<Backend>(p, x) + window<Backend>(p, static_cast<const T*>(result));
  }

  template <class Backend, class P, class T>
  static void backward(const pass<P>& p, const T* x, const T*, const T* dy, T* dx, T* gradients, bool add) {
    T* inner_gradient = dx == nullptr ? nullptr : p.scratch;
    inside::template backward<Backend>(inner(p), x, inner_result(p), dy, inner_gradient, gradients, add);
    if (dx != nullptr)
      window<Backend>(p, dx) = window<Backend>(p, dy) + window<Backend>(p, static_cast<const T*>(inner_gradient));
  }

  template <class F>
  static void for_each_parameter(const std::string& prefix, std::size_t offset, F&& f) {
    inside::for_each_parameter(prefix, offset, f);
  }
  template <class F>
  static void for_each_buffer(const std::string& prefix, std::size_t offset, F&& f) {
    inside::for_each_buffer(prefix, offset, f);
  }
};

}  // namespace detail
}  // namespace devplace::nn
