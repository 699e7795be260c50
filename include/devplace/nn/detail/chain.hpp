// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/chain_pass.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// Whether `Plan`'s layer also computes the following layer in the same pass (linear and relu: one product with the
/// activation in its epilogue and, in backward, one pass over the gradient).
template <class Plan, class Next>
inline constexpr bool absorbs = requires { requires Plan::layer_type::template absorbs<typename Next::layer_type>; };

/// Stores a plan's links at `to`; see chain::store_links. `rows`: those of a plan that is one link.
template <class Plan, class Backend>
constexpr runtime::link* store_links_of(runtime::link* to, bool joined, bool trained, const runtime::layer_rows& rows) {
  if constexpr (Plan::links != 1) {
    return Plan::template store_links<Backend>(to, joined, trained);
  } else {
    const bool reads = trained ? Plan::parameter_elements + Plan::frozen_elements != 0 : Plan::backward_reads;
    *to = {Plan::parameter_elements, Plan::frozen_elements, Plan::reductions_per_pass, joined, reads, rows};
    return to + 1;
  }
}

template <class In, class Plans> struct chain;

template <class In, class... Plans> struct chain<In, std::tuple<Plans...>> : plan_list<Plans...> {
 private:
  using list = plan_list<Plans...>;
  using list::n, list::plan_parameters;
  template <std::size_t Index> using plan = typename list::template plan<Index>;

  /// Whether activation i has the element type of the chain's input.
  static constexpr std::array<bool, n + 1> raw = [] {
    const std::array<bool, n> kept{Plans::keeps_elements...};
    std::array<bool, n + 1> result{true};
    for (std::size_t i = 0; i < n; ++i) result[i + 1] = result[i] && kept[i];
    return result;
  }();
  static constexpr bool own_elements(bool behind_others) {
    const std::array<bool, n> own{Plans::own_input_elements...};
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || (own[i] && raw[i] != behind_others);
    return any;
  }
  static_assert(!own_elements(true),
                "devplace: a layer requires its own element type (input_element), such as indices, but stands behind "
                "layers that compute; put this layer first in the network.");

  static constexpr chain_facts<n> facts{{sample_size<In>, sample_size<typename Plans::output>...},
                                        {Plans::keeps...},
                                        {Plans::in_place...},
                                        {Plans::reshapes...},
                                        raw};
  static constexpr chain_layout<n> training = lay_out(facts, mode::train);
  static constexpr chain_layout<n> predicting = lay_out(facts, mode::predict);

  template <std::size_t Index> static constexpr bool absorbs_next() {
    if constexpr (Index < n - 1)
      return absorbs<plan<Index>, plan<Index + 1>> && training.storage[Index + 1] == training.storage[Index + 2] &&
             predicting.storage[Index + 1] == predicting.storage[Index + 2];
    else
      return false;
  }
  /// The number of outputs of the layer after the absorbed one if layer `Index` computes the gradient of that layer's
  /// input; otherwise 0.
  template <std::size_t Index, class Backend> static constexpr std::size_t outputs_after() {
    if constexpr (Index + 2 < n && absorbs_next<Index>() && !absorbs_next<Index + 2>()) {
      using layer = typename plan<Index>::layer_type;
      if constexpr (requires { layer::template outputs_after_relu<typename plan<Index + 2>::layer_type, Backend>; })
        return is_frozen<layer> ? 0 : layer::template outputs_after_relu<typename plan<Index + 2>::layer_type, Backend>;
    }
    return 0;
  }
  /// Whether the previous layer computes this layer too; false for layer 0, where `Index - 1` wraps around.
  template <std::size_t Index> static constexpr bool absorbed() { return absorbs_next<Index - 1>(); }

  static constexpr std::array<std::size_t, n> plan_links{Plans::links...};
  static constexpr auto chain_layers = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array<chain_layer, n>{
        chain_layer{list::template before<Index>(), list::sum_before(plan_links, Index), plan_links[Index],
                    list::template phases<Index, false>(), list::template phases<Index, true>(), plan_parameters[Index],
                    Index + (absorbs_next<Index>() ? 1 : 0), raw[Index], Plans::reports_layers, &Plans::saved_bytes,
                    &Plans::scratch_bytes}...};
  }(std::make_index_sequence<n>{});
  /// The number of layers that run if nobody reads the output: the last of them leaves something for backward.
  static constexpr std::size_t repeated = [] {
    const std::array<bool, n> leaves{Plans::leaves_data...};
    std::size_t count = n;
    while (count != 0 && !leaves[count - 1] && !training.kept[training.storage[count]]) --count;
    return count;
  }();
  /// Whether anybody reads the output of the last of these layers.
  static constexpr bool reads_repeated = training.kept[training.storage[repeated]];
  static constexpr chain_table table{chain_layers.data(),       n,        training.values(), predicting.values(),
                                     training.largest_gradient, repeated, reads_repeated};

 public:
  using indices = std::make_index_sequence<n>;
  using output = typename plan<n - 1>::output;
  static constexpr keep keeps =
      static_cast<keep>((training.kept[0] ? 1 : 0) + (training.kept[training.storage[n]] ? 2 : 0));
  static constexpr std::size_t links = list::sum_before(plan_links, n);
  static constexpr runtime::layer_rows sliced_rows = n == 1 ? plan<0>::sliced_rows : runtime::layer_rows{};
  static constexpr bool own_input_elements = own_elements(false);
  static constexpr bool keeps_elements = raw[n];
  static constexpr recomputed_cost cost = [] {
    const std::array<recomputed_cost, n> costs{Plans::cost...};
    recomputed_cost sum{};
    for (std::size_t i = 0; i < n; ++i) {
      sum.forward += costs[i].forward;
      if (i < repeated) sum.again += i + 1 == repeated && !reads_repeated ? costs[i].again : costs[i].forward;
      sum.repeated += costs[i].repeated;
    }
    return sum;
  }();

  /// Stores the links at `to`, where `joined` is about the first one, and `trained` whether parameters before it are
  /// trained. Returns the address behind the last one.
  template <class Backend> static constexpr runtime::link* store_links(runtime::link* to, bool joined, bool trained) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      ((to = store_links_of<plan<Index>, Backend>(
            to, Index == 0 ? joined : is_joined<Index, Backend>(),
            trained || chain_layers[Index].before.parameters != 0,
            absorbs_next<Index>() ? runtime::layer_rows{} : plan<Index>::sliced_rows)),
       ...);
    }(indices{});
    return to;
  }

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return table.saved_bytes(batch, m, e);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return table.scratch_bytes(batch, m, e);
  }

  /// Instantiates the passes of all layers; does nothing at run time. Passes call this function first, which shortens
  /// the backtrace of errors in a user's layer. With clang no library function remains in the backtrace, since clang
  /// instantiates functions that return `auto` at once and their callees later.
  template <class Backend, class X, class P, bool Training, std::size_t... Index>
  static auto compile_layers(std::index_sequence<Index...>) {
    (static_cast<void>(forward_of<Index, Backend, X, P>()), ...);
    if constexpr (Training) (static_cast<void>(backward_of<Index, Backend, X, P>()), ...);
  }

  /// Run the passes of the layers; with `Rows`, only of those that can compute from some rows of their first parameter.
  ///@{
  template <class Backend, class X, class P, bool Rows = false>
  static void forward(const pass<P>& p, const void* x, void* y) {
    static constexpr auto functions = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::array<forward_function<P>, n>{forward_of<Index, Backend, X, P, Rows>()...};
    }(indices{});
    chain_pass<P>(table, p, sizes_of<X, P>, x, y).forward(functions.data());
  }
  template <class Backend, class X, class P, bool Rows = false>
  static void backward(const pass<P>& p, const backward_arguments<P>& a) {
    static constexpr auto functions = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::array<layer_backward<P>, n>{
          {{backward_of<Index, Backend, X, P, Rows>(), Rows ? 0 : outputs_after<Index, Backend>()}...}};
    }(indices{});
    chain_pass<P>(table, p, sizes_of<X, P>, a.x, a.y).backward(functions.data(), a);
  }
  ///@}

 private:
  /// Whether a pass of an earlier layer computes layer `Index` or reads its parameters.
  template <std::size_t Index, class Backend> static constexpr bool is_joined() {
    if constexpr (Index > 1)
      if (outputs_after<Index - 2, Backend>() != 0) return true;
    return absorbs_next<Index - 1>();
  }

  template <std::size_t Index, class X, class P>
  using input_element_at = std::conditional_t<raw[Index], X, element_of_t<P>>;

  /// Whether layer `Index`, or a layer in it, can compute from some rows.
  template <std::size_t Index> static constexpr bool has_rows() {
    return plan<Index>::links != 1 || (plan<Index>::sliced_rows.count != 0 && !absorbs_next<Index>());
  }
  template <std::size_t Index, class Backend, class X, class P, bool Rows = false> static consteval auto forward_of() {
    using element = input_element_at<Index, X, P>;
    if constexpr (Rows ? !has_rows<Index>() : absorbed<Index>())
      return nullptr;
    else if constexpr (Rows)
      return &plan<Index>::template forward<Backend, element, P, true>;
    else if constexpr (absorbs_next<Index>())
      return &plan<Index>::template forward<Backend, element, P, false, typename plan<Index + 1>::layer_type>;
    else
      return &plan<Index>::template forward<Backend, element, P>;
  }
  template <std::size_t Index, class Backend, class X, class P, bool Rows = false> static consteval auto backward_of() {
    using element = input_element_at<Index, X, P>;
    if constexpr (Rows ? !has_rows<Index>() : absorbed<Index>())
      return nullptr;
    else if constexpr (Rows)
      return &plan<Index>::template backward<Backend, element, P, true>;
    else if constexpr (absorbs_next<Index>())
      return &plan<Index>::template backward<Backend, element, P, false, typename plan<Index + 1>::layer_type>;
    else
      return &plan<Index>::template backward<Backend, element, P>;
  }
};

}  // namespace devplace::nn::detail
