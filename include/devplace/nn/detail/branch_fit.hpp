// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/computed.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// Where a branch's result lies: in the input itself, in memory that backward reads, in the branches' joint output, or
/// in scratch memory.
enum class branch_result : unsigned char { input, saved, output, scratch };

/// The plan of branches that take the same input `In`; `Join` combines their results. Overwrites neither the input nor
/// the output's gradient. Adds up the branches' gradients of the input, beginning with the last branch.
///
/// Workspace from forward to backward: each branch's result, if its backward reads the result, and the branch's saved
/// data. Scratch memory: a result or its gradient, a gradient of the input, and the branch's own scratch memory.
template <class Join, class In, class... Plans> struct branches : plan_list<Plans...> {
 private:
  using list = plan_list<Plans...>;
  using list::n, list::plan_parameters, list::sum_before;
  template <std::size_t Index> using plan = typename list::template plan<Index>;

  static constexpr std::array<std::size_t, n> result_size{sample_size<typename Plans::output>...};
  /// Whether a branch only reshapes: its result is the input, and the gradient of the input is the result's gradient.
  static constexpr std::array<bool, n> passes_on{Plans::reshapes...};
  static constexpr std::array<bool, n> keeps_result{includes(Plans::keeps, keep::output)...};

  static constexpr branch_result result_of(std::size_t index, mode m) {
    if (passes_on[index]) return branch_result::input;
    if (m == mode::train && keeps_result[index]) return branch_result::saved;
    const bool output_is_free = index == 0 || (index == 1 && result_of(0, m) != branch_result::output);
    return Join::adds && output_is_free ? branch_result::output : branch_result::scratch;
  }

  /// Whether a branch adds its gradient of the input to the sum from branches that ran earlier in backward.
  static constexpr bool adds_gradient(std::size_t index) {
    return index + 1 != n && !passes_on[index] && !(Join::adds && index + 2 == n && passes_on[n - 1]);
  }

  static constexpr std::size_t bytes_of_result(std::size_t index, std::size_t batch, const element_sizes& e) {
    return padded_bytes(result_size[index] * batch * e.activation);
  }
  static constexpr std::size_t saved_of(std::size_t index, std::size_t batch, const element_sizes& e) {
    return result_of(index, mode::train) == branch_result::saved ? bytes_of_result(index, batch, e) : 0;
  }
  /// Bytes for a result or, in backward of a concatenation, a result's gradient.
  static constexpr std::size_t scratch_result(std::size_t batch, mode m, const element_sizes& e) {
    const bool gradients = m == mode::train && !Join::adds;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (gradients || result_of(i, m) == branch_result::scratch)
        largest = std::max(largest, bytes_of_result(i, batch, e));
    return largest;
  }
  static constexpr std::size_t scratch_gradient(std::size_t batch, mode m, const element_sizes& e) {
    for (std::size_t i = 0; i < n && m == mode::train; ++i)
      if (adds_gradient(i)) return padded_bytes(sample_size<In> * batch * e.activation);
    return 0;
  }
  static constexpr std::size_t saved_before(std::size_t index, std::size_t batch, const element_sizes& e) {
    std::size_t at = 0, total = 0;
    ((total += at < index ? saved_of(at, batch, e) + Plans::saved_bytes(batch, mode::train, e) : 0, ++at), ...);
    return total;
  }

 public:
  using output = typename Join::template output<typename Plans::output...>;
  static constexpr keep keeps = (includes(Plans::keeps, keep::input) || ...) ? keep::input : keep::nothing;
  static constexpr bool own_input_elements = (Plans::own_input_elements || ...);
  static constexpr bool keeps_elements = false;

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return m == mode::predict ? 0 : saved_before(n, batch, e);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return scratch_result(batch, m, e) + scratch_gradient(batch, m, e) +
           std::max({list::template inner_bytes<Plans>(batch, m, e)...});
  }

  using indices = std::index_sequence<>;
  template <class Backend, class X, class P, bool Training> static auto compile_layers(indices) {}

  template <class Backend, class X, class P> static void forward(const pass<P>& p, const void* x, void* y) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (forward_one<Index, Backend, X>(p, x, y), ...);
    }(std::make_index_sequence<n>{});
  }

  template <class Backend, class X, class P> static void backward(const pass<P>& p, const backward_arguments<P>& a) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (backward_one<n - 1 - Index, Backend, X>(p, a), ...);
    }(std::make_index_sequence<n>{});
  }

 private:
  template <class X, class P>
  static constexpr element_sizes sizes{sizeof(X), sizeof(element_of_t<P>), sizeof(accumulator_of<P>)};

  /// Returns the pass of branch `Index`, with the branch's parameters and parts of the workspace.
  template <std::size_t Index, class X, class P> static pass<P> inner(const pass<P>& p) {
    constexpr element_sizes e = sizes<X, P>;
    pass<P> result = at_layer(p, list::template before<Index>());
    result.scratch = p.scratch + scratch_result(p.batch, p.mode, e) + scratch_gradient(p.batch, p.mode, e);
    if (p.mode == mode::train) {
      result.saved = p.saved + saved_before(Index, p.batch, e) + saved_of(Index, p.batch, e);
    } else {
      result.saved = result.scratch;
      result.scratch = result.saved + plan<Index>::saved_bytes(p.batch, mode::predict, e);
    }
    return result;
  }

  template <std::size_t Index, class X, class P> static void* result(const pass<P>& p, const void* x, void* y) {
    switch (result_of(Index, p.mode)) {
      case branch_result::input:
        return const_cast<void*>(x);
      case branch_result::saved:
        return p.saved + saved_before(Index, p.batch, sizes<X, P>);
      case branch_result::output:
        return y;
      default:
        return p.scratch;
    }
  }

  template <std::size_t Index, class Backend, class X, class P>
  static void forward_one(const pass<P>& p, const void* x, void* y) {
    constexpr layer_phases phases = list::template phases<Index, false>();
    if (!phases.contain(p)) return;
    void* const own = result<Index, X>(p, x, y);
    if constexpr (!passes_on[Index])
      plan<Index>::template forward<Backend, X>(phases.in_layer(inner<Index, X>(p)), x, own);
    if (!phases.end_at(p.phase)) return;
    using T = element_of_t<P>;
    if constexpr (!Join::adds)
      copy(part_of<Index, Backend>(p, static_cast<T*>(y)), rows_of<Index, Backend>(p, static_cast<const T*>(own)));
    else if constexpr (Index == 1)
      add_into<Backend>(p, y, result<0, X>(p, x, y), own, result_size[0]);
    else if constexpr (Index > 1)
      add_into<Backend>(p, y, y, own, result_size[0]);
  }

  template <std::size_t Index, class Backend, class X, class P>
  static void backward_one(const pass<P>& p, const backward_arguments<P>& a) {
    constexpr layer_phases phases = list::template phases<Index, true>();
    if (!phases.contain(p)) return;
    constexpr std::size_t inputs = sample_size<In>;
    const bool complete = phases.end_at(p.phase);
    const void* const dy = a.dy;
    void* const dx = a.dx;
    backward_arguments<P> own = a;
    own.gradients += sum_before(plan_parameters, Index);
    void* const more = p.scratch + scratch_result(p.batch, p.mode, sizes<X, P>);
    if constexpr (passes_on[Index]) {
      if (dx != nullptr) {
        if constexpr (Join::adds) {
          if constexpr (Index + 2 <= n) add_into<Backend>(p, dx, gradient_so_far<Index>(dy, dx), dy, inputs);
        } else {
          void* const part = Index + 1 == n ? dx : p.scratch;
          take_gradient<Index, Backend>(p, part, dy);
          if constexpr (Index + 1 != n) add_into<Backend>(p, dx, dx, part, inputs);
        }
      }
    } else if (plan_parameters[Index] != 0 || dx != nullptr) {
      if constexpr (!Join::adds) {
        take_gradient<Index, Backend>(p, p.scratch, dy);
        own.dy = p.scratch;
      }
      if (dx != nullptr && adds_gradient(Index)) own.dx = more;
      own.y = result<Index, X>(p, a.x, const_cast<void*>(a.y));
      plan<Index>::template backward<Backend, X>(phases.in_layer(inner<Index, X>(p)), own);
      if constexpr (Index + 1 != n)
        if (dx != nullptr && complete) add_into<Backend>(p, dx, gradient_so_far<Index>(dy, dx), own.dx, inputs);
    }
    if constexpr (!plan<Index>::reports_layers)
      if (a.after != nullptr && complete) (*a.after)(own.gradients);
  }

  /// Returns the address of the input's gradient, summed over the branches after `Index`.
  template <std::size_t Index> static const void* gradient_so_far(const void* dy, const void* dx) {
    return Join::adds && Index + 2 == n && passes_on[n - 1] ? dy : dx;
  }

  /// Branch `Index`'s part of the concatenated results, and the branch's own result, both as rows of contiguous
  /// elements.
  ///@{
  template <std::size_t Index, class Backend, class P, class Element>
  static auto part_of(const pass<P>& p, Element* all) {
    constexpr std::size_t rows = Join::template rows<output>(), first = sum_before(result_size, Index) / rows;
    const auto parts = devplace::detail::view_at<Backend>(
        p.ordinal, all, dextents<2>{rows * p.batch, sum_before(result_size, n) / rows});
    return parts.slice(axis<1>{}, first, first + result_size[Index] / rows);
  }
  template <std::size_t Index, class Backend, class P, class Element>
  static auto rows_of(const pass<P>& p, Element* own) {
    constexpr std::size_t rows = Join::template rows<output>();
    return devplace::detail::view_at<Backend>(p.ordinal, own, dextents<2>{rows * p.batch, result_size[Index] / rows});
  }
  ///@}
  template <std::size_t Index, class Backend, class P>
  static void take_gradient(const pass<P>& p, void* to, const void* dy) {
    using T = element_of_t<P>;
    copy(rows_of<Index, Backend>(p, static_cast<T*>(to)), part_of<Index, Backend>(p, static_cast<const T*>(dy)));
  }

  /// Computes to = a + b, of `size` elements per sample; `to` may be a or b.
  template <class Backend, class P>
  static void add_into(const pass<P>& p, void* to, const void* a, const void* b, std::size_t size) {
    using T = element_of_t<P>;
    const auto flat = [&]<class Element>(Element* data) {
      return devplace::detail::view_at<Backend>(p.ordinal, data, extents<dyn>{size * p.batch});
    };
    assign_rounded(flat(static_cast<T*>(to)),
                   computed(flat(static_cast<const T*>(a))) + computed(flat(static_cast<const T*>(b))));
  }
};

/// The plan of a branch, its first wrong layer and its first misfit, each void if there is none. The misfit's path
/// begins with `Step`, the branch's position.
template <class Step, class Layer, class In> struct branch_fit {
  using plan = layer_plan<Layer, typename taken_by<Layer, In>::type>;
  using wrong_layer = typename plan::wrong_layer;
  static constexpr auto find() {
    if constexpr (takes_another<Layer, In>)
      return std::type_identity<
          misfit<path<Step>, Layer, expects<typename expected_of<taken_by<Layer, In>>::type>, receives<In>>>{};
    else
      return within<Step, typename plan::first_misfit>{};
  }
  using first_misfit = typename decltype(find())::type;
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

/// Whether branches take elements of the same type.
template <class First, class... Rest> constexpr bool take_same_elements() {
  constexpr bool same =
      (std::is_same_v<typename input_element<First, void>::type, typename input_element<Rest, void>::type> && ...);
  static_assert(same,
                "devplace: the branches of a sum_of or concat_of take the same input, but not all require the same "
                "element type (input_element), such as indices.");
  return same;
}

/// The extents of the input, from the first branch that determines them.
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
    : checked_branches<branches<Join, In, typename branch_fit<branch<Index>, Branches, In>::plan...>,
                       unequal_outputs<Join, typename branch_fit<branch<Index>, Branches, In>::plan::output...>,
                       branch_fit<branch<Index>, Branches, In>...> {
  static_assert(take_same_elements<Branches...>());
};

}  // namespace devplace::nn::detail
