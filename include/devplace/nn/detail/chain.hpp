// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <devplace/nn/detail/chain_layout.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/numbered_types.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Whether `Plan`'s layer does the work of the one after it in the same pass (linear and relu: one product with the
/// activation in its epilogue; backward, one pass over the gradient).
template <class Plan, class Next>
constexpr bool absorbs() {
  if constexpr (requires { Plan::layer_type::template absorbs<typename Next::layer_type>; })
    return Plan::layer_type::template absorbs<typename Next::layer_type>;
  else
    return false;
}

/// The entries of `List`, then those of the plans, whose arenas follow one another from `Base` on.
template <std::size_t Base, class List, class... Plans>
struct parameter_list {
  using type = List;
};
template <std::size_t Base, class List, class First, class... Rest>
struct parameter_list<Base, List, First, Rest...>
    : parameter_list<Base + First::parameter_elements, decltype(List{} + typename First::template entries<Base>{}),
                     Rest...> {};

/// The plan of layers one after another.
template <class In, class Plans>
struct chain;

template <class In, class... Plans>
struct chain<In, std::tuple<Plans...>> {
 private:
  static constexpr std::size_t n = sizeof...(Plans);
  using plans = numbered_types<std::make_index_sequence<n>, Plans...>;
  template <std::size_t Index>
  using plan = typename decltype(plans::template find<Index>())::type;

  static constexpr chain_facts<n> facts() {
    chain_facts<n> f;
    f.size = {sample_size<In>, sample_size<typename Plans::output>...};
    f.keeps = {Plans::keeps...};
    f.in_place = {Plans::in_place...};
    f.reshapes = {Plans::reshapes...};
    return f;
  }
  static constexpr chain_layout<n> training = lay_out(facts(), mode::train);
  static constexpr chain_layout<n> predicting = lay_out(facts(), mode::predict);
  static constexpr std::size_t largest_gradient() {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < n; ++i)
      largest = std::max(largest, facts().size[i]);
    return largest;
  }

  static constexpr std::array<std::size_t, n> plan_parameters{Plans::parameter_elements...};
  static constexpr std::array<std::size_t, n> plan_buffers{Plans::buffer_elements...};
  static constexpr std::array<std::size_t, n> plan_layers{Plans::layers...};
  static constexpr std::size_t sum_before(const std::array<std::size_t, n>& of, std::size_t index) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < index; ++i)
      total += of[i];
    return total;
  }

 public:
  using output = typename plan<n - 1>::output;
  using layer_type = void;
  static constexpr keep keeps =
      static_cast<keep>((training.kept[0] ? 1 : 0) + (training.kept[training.output_storage()] ? 2 : 0));
  static constexpr bool in_place = false;
  static constexpr bool reshapes = false;
  static constexpr std::size_t layers = sum_before(plan_layers, n);
  static constexpr std::size_t parameters = (Plans::parameters + ...);
  static constexpr std::size_t parameter_elements = sum_before(plan_parameters, n);
  static constexpr std::size_t buffer_elements = sum_before(plan_buffers, n);

  /// The type list of the parameters when the chain's arena starts at `Base`.
  template <std::size_t Base>
  using entries = typename parameter_list<Base, entry_list<>, Plans...>::type;

  static constexpr std::size_t saved_elements(std::size_t batch, mode m) {
    if (m == mode::predict) return 0;
    return training.interior(batch) + (Plans::saved_elements(batch, m) + ...);
  }
  static constexpr std::size_t scratch_elements(std::size_t batch, mode m) {
    const std::size_t inside =
        std::max({Plans::scratch_elements(batch, m) + (m == mode::predict ? Plans::saved_elements(batch, m) : 0)...});
    return 2 * slot(batch, m) + inside;
  }

  template <class Backend, class P, class T>
  static void forward(const pass<P>& p, const T* x, T* y) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (forward_one<Index, Backend>(p, x, y), ...);
    }
    (std::make_index_sequence<n>{});
  }

  template <class Backend, class P, class T>
  static void backward(const pass<P>& p, const T* x, const T* y, const T* dy, T* dx, T* gradients, bool add) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (backward_one<n - 1 - Index, Backend>(p, x, y, dy, dx, gradients, add), ...);
    }
    (std::make_index_sequence<n>{});
  }

  template <class F>
  static void for_each_parameter(const std::string& prefix, std::size_t offset, F&& f) {
    std::size_t index = 0;
    ((Plans::for_each_parameter(child_prefix(prefix, index), offset + sum_before(plan_parameters, index), f), ++index),
     ...);
  }
  template <class F>
  static void for_each_buffer(const std::string& prefix, std::size_t offset, F&& f) {
    if constexpr (buffer_elements != 0) {
      std::size_t index = 0;
      ((Plans::for_each_buffer(child_prefix(prefix, index), offset + sum_before(plan_buffers, index), f), ++index),
       ...);
    }
  }

 private:
  /// Two buffers take turns: activations when predicting, gradients when training.
  static constexpr std::size_t slot(std::size_t batch, mode m) {
    return padded((m == mode::predict ? predicting.largest_interior() : largest_gradient()) * batch);
  }

  static constexpr std::size_t saved_before(std::size_t index, std::size_t batch) {
    const std::array<std::size_t, n> saved{Plans::saved_elements(batch, mode::train)...};
    return sum_before(saved, index);
  }

  /// Activation `i`, wherever the layout has put it.
  template <class P, class T>
  static T* activation(const pass<P>& p, std::size_t i, const T* x, const T* y) {
    const chain_layout<n>& layout = p.mode == mode::train ? training : predicting;
    const std::size_t id = layout.storage[i];
    if (id == 0) return const_cast<T*>(x);
    if (id == layout.output_storage()) return const_cast<T*>(y);
    if (p.mode == mode::train) return p.saved + layout.offset(id, p.batch);
    return p.scratch + (id % 2) * slot(p.batch, mode::predict);
  }

  /// The pass as layer `Index` sees it.
  template <std::size_t Index, class P>
  static pass<P> inner(const pass<P>& p) {
    pass<P> result = p;
    result.parameters = p.parameters + sum_before(plan_parameters, Index);
    result.buffers = p.buffers + sum_before(plan_buffers, Index);
    result.scratch = p.scratch + 2 * slot(p.batch, p.mode);
    if (p.mode == mode::train) {
      result.saved = p.saved + training.interior(p.batch) + saved_before(Index, p.batch);
    } else {
      result.saved = result.scratch;
      result.scratch = result.saved + plan<Index>::saved_elements(p.batch, mode::predict);
    }
    result.key.layer = p.key.layer + sum_before(plan_layers, Index);
    return result;
  }

  template <std::size_t Index>
  static constexpr bool absorbs_next() {
    if constexpr (Index + 1 < n)
      return absorbs<plan<Index>, plan<Index + 1>>() && training.storage[Index + 1] == training.storage[Index + 2] &&
             predicting.storage[Index + 1] == predicting.storage[Index + 2];
    else
      return false;
  }

  template <std::size_t Index>
  static constexpr bool absorbed() {
    if constexpr (Index > 0)
      return absorbs_next<Index - 1>();
    else
      return false;
  }

  template <std::size_t Index, class Backend, class P, class T>
  static void forward_one(const pass<P>& p, const T* x, T* y) {
    if constexpr (!absorbed<Index>()) {
      const T* in = activation(p, Index, x, y);
      T* out = activation(p, Index + 1, x, y);
      if constexpr (absorbs_next<Index>())
        plan<Index>::template forward_absorbing<typename plan<Index + 1>::layer_type, Backend>(inner<Index>(p), in,
                                                                                               out);
      else
        plan<Index>::template forward<Backend>(inner<Index>(p), in, out);
    }
  }

  template <std::size_t Index, class Backend, class P, class T>
  static void backward_one(const pass<P>& p, const T* x, const T* y, const T* dy, T* dx, T* gradients, bool add) {
    if constexpr (!absorbed<Index>()) {
      constexpr bool parameters_before = sum_before(plan_parameters, Index) != 0;
      constexpr bool parameters_here = plan_parameters[Index] != 0;
      constexpr std::size_t last = absorbs_next<Index>() ? Index + 1 : Index;
      if (!parameters_before && !parameters_here && dx == nullptr) return;
      const T* above = last + 1 == n ? dy : gradient(p, last + 1);
      T* below = Index == 0 ? dx : parameters_before || dx != nullptr ? gradient(p, Index) : nullptr;
      T* const own = gradients + sum_before(plan_parameters, Index);
      const T* in = activation(p, Index, x, y);
      const T* out = activation(p, last + 1, x, y);
      if constexpr (absorbs_next<Index>())
        plan<Index>::template backward_absorbing<typename plan<last>::layer_type, Backend>(
            inner<Index>(p), in, out, above, gradient(p, last), below, own, add);
      else
        plan<Index>::template backward<Backend>(inner<Index>(p), in, out, above, below, own, add);
    }
  }

  template <class P>
  static element_of_t<P>* gradient(const pass<P>& p, std::size_t i) {
    return p.scratch + training.gradient_slot[i] * slot(p.batch, mode::train);
  }
};

}  // namespace devplace::nn::detail
