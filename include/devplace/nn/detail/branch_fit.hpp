// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/branch_pass.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/sequential.hpp>

namespace devplace::nn::detail {

/// The plan of branches that take the same input `In`; `Join` combines their results.
template <class Join, class In, class... Plans> struct branches : plan_list<Plans...> {
 private:
  using list = plan_list<Plans...>;
  using list::n;
  static constexpr auto all = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array{branch_facts{
        list::template before<Index>(), list::template phases<Index, false>(), list::template phases<Index, true>(),
        Plans::parameter_elements, sample_size<typename Plans::output>, Plans::reshapes,
        includes(Plans::keeps, keep::output), Plans::reports_layers, &Plans::saved_bytes, &Plans::scratch_bytes}...};
  }(std::make_index_sequence<n>{});

 public:
  using output = typename Join::template output<typename Plans::output...>;
  static constexpr keep keeps = (includes(Plans::keeps, keep::input) || ...) ? keep::input : keep::nothing;
  static constexpr bool own_input_elements = (Plans::own_input_elements || ...);
  static constexpr bool keeps_elements = false;
  static constexpr strip_traffic exchanged(bool backward, bool dx) { return (Plans::exchanged(backward, dx) + ...); }
  static constexpr recomputed_cost cost{
      (Plans::cost.forward + ...),
      ((includes(Plans::keeps, keep::output) ? Plans::cost.forward : Plans::cost.again) + ...),
      (Plans::cost.repeated + ...)};

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return m == mode::predict ? 0 : table.saved_before(n, batch, e);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return table.scratch_bytes(batch, m, e);
  }

  using indices = std::index_sequence<>;
  template <class Backend, class X, class P, bool Training> static auto compile_layers(indices) {}

  template <class Backend, class X, class P> static void forward(const pass<P>& p, const void* x, void* y) {
    static constexpr forward_function<P> functions[] = {forward_of<Plans, Backend, X, P>()...};
    branch_pass<Backend, P, Join::adds>(table, p, sizes_of<X, P>).forward(functions, x, y);
  }
  template <class Backend, class X, class P> static void backward(const pass<P>& p, const backward_arguments<P>& a) {
    static constexpr backward_function<P> functions[] = {backward_of<Plans, Backend, X, P>()...};
    branch_pass<Backend, P, Join::adds>(table, p, sizes_of<X, P>).backward(functions, a);
  }

 private:
  static constexpr branch_table table{
      all.data(), n, sample_size<In>, sample_size<output>, Join::template rows<output>(), Join::adds};

  /// The passes of a branch; null if the branch only reshapes.
  ///@{
  template <class Plan, class Backend, class X, class P> static constexpr forward_function<P> forward_of() {
    if constexpr (Plan::reshapes)
      return nullptr;
    else
      return &Plan::template forward<Backend, X, P>;
  }
  template <class Plan, class Backend, class X, class P> static constexpr backward_function<P> backward_of() {
    if constexpr (Plan::reshapes)
      return nullptr;
    else
      return &Plan::template backward<Backend, X, P>;
  }
  ///@}
};

/// The first output that does not fit the first branch's output by `Join::fits`; void if there is none.
template <class Join, class First, class... Others>
struct unequal_outputs
    : first_not_void<std::conditional_t<Join::template fits<First, Others>(), void,
                                        unequal<path<>, typename Join::rule, gives<First>, gives<Others>>>...> {};

/// Adds the first faults to `Base`, the plan of the branches: a fault within a branch (`Fits`) or else `Unequal`.
template <class Base, class Unequal, class... Fits> struct checked_branches : Base {
  using wrong_layer = typename first_not_void<typename Fits::wrong_layer...>::type;
  using first_misfit = typename first_not_void<typename Fits::first_misfit..., typename Unequal::type>::type;
};

template <class First, class... Rest> constexpr bool take_same_elements() {
  constexpr bool same =
      (std::is_same_v<typename input_element<First, void>::type, typename input_element<Rest, void>::type> && ...);
  static_assert(same,
                "devplace: the branches of a sum_of or concat_of take the same input, but not all require the same "
                "element type (input_element), such as indices.");
  return same;
}

/// The extents of the input, from the first branch that determines them; an axis in front of the branches does not.
template <class... Branches> struct input_of_branches {};
template <class First, class... Rest>
struct input_of_branches<First, Rest...>
    : std::conditional_t<knows_input<First>, network_input<First>, input_of_branches<Rest...>> {};

/// Rejects fewer than two branches and returns a stand-in for them. A function, so that clang prints no further error.
template <class In, class... Branches> constexpr auto too_few_branches() {
  static_assert(sizeof...(Branches) > 1, "devplace: sum_of and concat_of need at least two branches: sum_of<A, B>.");
  return any_layer<In>{};
}

/// The plan of branches whose outputs `Join::fits` compares and `Join` combines.
template <class Join, class In, class Indices, class... Branches>
struct branch_plan : layer_plan<decltype(too_few_branches<In, Branches...>()), In> {};
template <class Join, class In, std::size_t... Index, class... Branches>
  requires(sizeof...(Branches) > 1)
struct branch_plan<Join, In, std::index_sequence<Index...>, Branches...>
    : checked_branches<branches<Join, In, typename layer_fit<branch<Index>, Branches, In>::plan...>,
                       unequal_outputs<Join, typename layer_fit<branch<Index>, Branches, In>::plan::output...>,
                       layer_fit<branch<Index>, Branches, In>...> {
  static_assert(take_same_elements<Branches...>());
};

}  // namespace devplace::nn::detail
