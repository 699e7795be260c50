// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/chain_layout.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Whether `Plan`'s layer also computes the following layer in the same pass (linear and relu: one product with the
/// activation in its epilogue and, in backward, one pass over the gradient).
template <class Plan, class Next> constexpr bool absorbs() {
  if constexpr (requires { Plan::layer_type::template absorbs<typename Next::layer_type>; })
    return Plan::layer_type::template absorbs<typename Next::layer_type>;
  else
    return false;
}

/// A stand-in for plans whose passes compile_layers leaves out.
struct no_passes {
  template <class Backend, class X, class P> static void forward() {}
  template <class Backend, class X, class P> static void backward() {}
};

/// The plan of consecutive layers.
template <class In, class Plans> struct chain;

template <class In, class... Plans> struct chain<In, std::tuple<Plans...>> : plan_list<Plans...> {
 private:
  using list = plan_list<Plans...>;
  using list::n, list::plan_parameters, list::sum_before;
  template <std::size_t Index> using plan = typename list::template plan<Index>;

  /// Whether activation i has the element type of the chain's input.
  static constexpr std::array<bool, n + 1> raw_activations() {
    const std::array<bool, n> kept{Plans::keeps_elements...};
    std::array<bool, n + 1> result{true};
    for (std::size_t i = 0; i < n; ++i) result[i + 1] = result[i] && kept[i];
    return result;
  }
  static constexpr std::array<bool, n + 1> raw = raw_activations();
  static constexpr bool own_elements(bool behind_others) {
    const std::array<bool, n> own{Plans::own_input_elements...};
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || (own[i] && raw[i] != behind_others);
    return any;
  }
  static_assert(!own_elements(true),
                "devplace: a layer requires its own element type (input_element), such as indices, but stands behind "
                "layers that compute; put this layer first in the network.");

  static constexpr chain_facts<n> facts() {
    chain_facts<n> f;
    f.size = {sample_size<In>, sample_size<typename Plans::output>...};
    f.keeps = {Plans::keeps...};
    f.in_place = {Plans::in_place...};
    f.reshapes = {Plans::reshapes...};
    f.raw = raw;
    return f;
  }
  static constexpr chain_layout<n> training = lay_out(facts(), mode::train);
  static constexpr chain_layout<n> predicting = lay_out(facts(), mode::predict);
  static constexpr std::size_t find_largest_gradient() {
    const std::array<std::size_t, n> output_sizes{sample_size<typename Plans::output>...};
    return n == 1 ? 0 : *std::max_element(output_sizes.begin(), output_sizes.end() - 1);
  }
  static constexpr std::size_t largest_gradient = find_largest_gradient();

 public:
  using output = typename plan<n - 1>::output;
  static constexpr keep keeps =
      static_cast<keep>((training.kept[0] ? 1 : 0) + (training.kept[training.output_storage()] ? 2 : 0));
  static constexpr bool own_input_elements = own_elements(false);
  static constexpr bool keeps_elements = raw[n];

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return m == mode::predict ? 0 : training.interior(batch, e) + saved_before(n, batch, e);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    std::size_t index = 0, inside = 0;
    ((inside = std::max(inside, list::template inner_bytes<Plans>(batch, m, sizes_at(index, e))), ++index), ...);
    return 2 * slot(batch, m, e) + inside;
  }

  using indices = std::make_index_sequence<n>;
  /// Instantiates the passes of all layers; does nothing at run time. Passes call this function first, which shortens
  /// the backtrace of errors in a user's layer. With clang no library function remains in the backtrace, since clang
  /// instantiates functions that return `auto` at once and their callees later.
  template <class Backend, class X, class P, bool Training, std::size_t... Index>
  static auto compile_layers(std::index_sequence<Index...>) {
    (static_cast<void>(&alone<Index>::template forward<Backend, input_element_at<Index, X, P>, P>), ...);
    if constexpr (Training)
      (static_cast<void>(&alone<Index>::template backward<Backend, input_element_at<Index, X, P>, P>), ...);
  }

  template <class Backend, class X, class P> static void forward(const pass<P>& p, const void* x, void* y) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (forward_one<Index, Backend, X>(p, x, y), ...);
    }(std::make_index_sequence<n>{});
  }

  template <class Backend, class X, class P, class After = runtime::nothing_after>
  static void backward(const pass<P>& p, const void* x, const void* y, const void* dy, void* dx,
                       gradient_of<P>* gradients, bool add, After after = {}) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (backward_one<n - 1 - Index, Backend, X>(p, x, y, dy, dx, gradients, add, after), ...);
    }(std::make_index_sequence<n>{});
  }

 private:
  static constexpr element_sizes sizes_at(std::size_t index, const element_sizes& e) {
    return {raw[index] ? e.input : e.activation, e.activation, e.accumulator};
  }
  template <std::size_t Index, class X, class P>
  using input_element_at = std::conditional_t<raw[Index], X, element_of_t<P>>;
  template <class X, class P>
  static constexpr element_sizes sizes{sizeof(X), sizeof(element_of_t<P>), sizeof(accumulator_of<P>)};

  /// Double buffering: two buffers alternate, for activations in prediction and for gradients in training.
  static constexpr std::size_t slot(std::size_t batch, mode m, const element_sizes& e) {
    return padded_bytes((m == mode::predict ? predicting.largest_interior(e) : largest_gradient * e.activation) *
                        batch);
  }

  /// Bytes of the data, besides activations, that layers before `index` save in a training pass.
  static constexpr std::size_t saved_before(std::size_t index, std::size_t batch, const element_sizes& e) {
    std::size_t at = 0, total = 0;
    ((total += at < index ? Plans::saved_bytes(batch, mode::train, sizes_at(at, e)) : 0, ++at), ...);
    return total;
  }

  /// The address of activation `i`, according to the layout.
  template <class X, class P> static void* activation(const pass<P>& p, std::size_t i, const void* x, const void* y) {
    const chain_layout<n>& layout = p.mode == mode::train ? training : predicting;
    const std::size_t id = layout.storage[i];
    if (id == 0) return const_cast<void*>(x);
    if (id == layout.output_storage()) return const_cast<void*>(y);
    if (p.mode == mode::train) return p.saved + layout.offset(id, p.batch, sizes<X, P>);
    return p.scratch + (id % 2) * slot(p.batch, mode::predict, sizes<X, P>);
  }

  /// Returns the pass of layer `Index`, with the layer's parameters and parts of the workspace.
  template <std::size_t Index, class X, class P> static pass<P> inner(const pass<P>& p) {
    constexpr element_sizes e = sizes<X, P>;
    pass<P> result = at_layer(p, list::template before<Index>());
    result.scratch = p.scratch + 2 * slot(p.batch, p.mode, e);
    if (p.mode == mode::train) {
      result.saved = p.saved + training.interior(p.batch, e) + saved_before(Index, p.batch, e);
    } else {
      result.saved = result.scratch;
      result.scratch = result.saved + plan<Index>::saved_bytes(p.batch, mode::predict, sizes_at(Index, e));
    }
    return result;
  }

  template <std::size_t Index> static constexpr bool absorbs_next() {
    if constexpr (Index + 1 < n)
      return absorbs<plan<Index>, plan<Index + 1>>() && training.storage[Index + 1] == training.storage[Index + 2] &&
             predicting.storage[Index + 1] == predicting.storage[Index + 2];
    else
      return false;
  }

  template <std::size_t Index> static constexpr bool absorbed() {
    if constexpr (Index > 0)
      return absorbs_next<Index - 1>();
    else
      return false;
  }

  /// The plan of layer `Index`, or no_passes if the layer is fused with a neighbour.
  template <std::size_t Index>
  using alone = std::conditional_t<absorbed<Index>() || absorbs_next<Index>(), no_passes, plan<Index>>;

  template <std::size_t Index, class Backend, class X, class P>
  static void forward_one(const pass<P>& p, const void* x, void* y) {
    if constexpr (!absorbed<Index>()) {
      constexpr layer_phases phases = list::template phases<Index, false>();
      if (!phases.contain(p)) return;
      using element = input_element_at<Index, X, P>;
      const void* in = activation<X>(p, Index, x, y);
      void* out = activation<X>(p, Index + 1, x, y);
      if constexpr (absorbs_next<Index>())
        plan<Index>::template forward_absorbing<typename plan<Index + 1>::layer_type, Backend, element>(
            inner<Index, X>(p), in, out);
      else
        plan<Index>::template forward<Backend, element>(phases.in_layer(inner<Index, X>(p)), in, out);
    }
  }

  template <std::size_t Index, class Backend, class X, class P, class After>
  static void backward_one(const pass<P>& p, const void* x, const void* y, const void* dy, void* dx,
                           gradient_of<P>* gradients, bool add, After after) {
    if constexpr (!absorbed<Index>()) {
      using element = input_element_at<Index, X, P>;
      constexpr bool parameters_before = sum_before(plan_parameters, Index) != 0;
      constexpr bool parameters_here = plan_parameters[Index] != 0;
      constexpr std::size_t last = absorbs_next<Index>() ? Index + 1 : Index;
      if (!parameters_before && !parameters_here && dx == nullptr) return;
      constexpr layer_phases phases = list::template phases<Index, true>();
      if (!phases.contain(p)) return;
      const void* above = last + 1 == n ? dy : gradient<X>(p, last + 1);
      void* below = Index == 0 ? dx : parameters_before || dx != nullptr ? gradient<X>(p, Index) : nullptr;
      auto* const own = gradients + sum_before(plan_parameters, Index);
      const void* in = activation<X>(p, Index, x, y);
      const void* out = activation<X>(p, last + 1, x, y);
      if constexpr (absorbs_next<Index>())
        plan<Index>::template backward_absorbing<typename plan<last>::layer_type, Backend, element>(
            inner<Index, X>(p), in, out, above, gradient<X>(p, last), below, own, add);
      else if constexpr (plan<Index>::reports_layers)
        plan<Index>::template backward<Backend, element>(phases.in_layer(inner<Index, X>(p)), in, out, above, below,
                                                         own, add, after);
      else
        plan<Index>::template backward<Backend, element>(phases.in_layer(inner<Index, X>(p)), in, out, above, below,
                                                         own, add);
      if constexpr (!plan<Index>::reports_layers)
        if (phases.end_at(p.phase)) after(own);
    }
  }

  template <class X, class P> static void* gradient(const pass<P>& p, std::size_t i) {
    return p.scratch + training.gradient_slot[i] * slot(p.batch, mode::train, sizes<X, P>);
  }
};

}  // namespace devplace::nn::detail
