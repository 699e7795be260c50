// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/layer_plan.hpp>

namespace devplace::nn::detail {

template <std::size_t Index, class T> struct numbered : std::type_identity<T> {};

/// A list of types, indexed by a single overload resolution: `typename decltype(Types::template find<2>())::type`. An
/// alias template with the types as arguments, such as std::tuple_element_t, makes nvcc 13.0's front end take time
/// exponential in the length of the list.
template <class Indices, class... T> struct numbered_types;
template <std::size_t... Index, class... T>
struct numbered_types<std::index_sequence<Index...>, T...> : numbered<Index, T>... {
 private:
  template <std::size_t I, class Found> static numbered<I, Found> pick(const numbered<I, Found>*);

 public:
  template <std::size_t I> static auto find() -> decltype(pick<I>(static_cast<numbered_types*>(nullptr)));
};

/// The entries of `List` followed by the plans' entries; the plans' arenas are consecutive from `Base` and `Frozen` on.
template <std::size_t Base, std::size_t Frozen, class List, class... Plans>
struct parameter_list : std::type_identity<List> {};
template <std::size_t Base, std::size_t Frozen, class List, class First, class... Rest>
struct parameter_list<Base, Frozen, List, First, Rest...>
    : parameter_list<Base + First::parameter_elements, Frozen + First::frozen_elements,
                     decltype(List{} + typename First::template entries<Base, Frozen>{}), Rest...> {};

/// Whether the layer at a position is called `name`: its own name if it has one, else its position.
constexpr bool is_called(const char* own_name, std::size_t position, std::string_view name) {
  if (has_own_name(own_name)) return name == own_name;
  char digits[20]{};
  std::size_t first = sizeof digits;
  do digits[--first] = static_cast<char>('0' + position % 10);
  while ((position /= 10) != 0);
  return name.compare(0, name.npos, digits + first, sizeof digits - first) == 0;
}
/// Whether all layers have different names; empty names may repeat.
template <std::size_t N> constexpr bool all_differ(const std::array<const char*, N>& names) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t k = 0; has_own_name(names[i]) && *names[i] != 0 && k < N; ++k)
      if (k != i && is_called(names[k], k, names[i])) return false;
  return true;
}

/// The numbers of elements of the layers before a layer, in each arena, and the number of these layers.
struct elements_before {
  std::size_t parameters, frozen, buffers, layers;
};

/// Changes the pass of a list of layers to the pass of one of them: its parameters, in the same workspace.
template <class P> void enter_layer(pass<P>& p, const elements_before& before) {
  p.parameters += before.parameters;
  p.master_parameters += before.parameters;
  p.frozen += static_cast<std::ptrdiff_t>(before.frozen) - static_cast<std::ptrdiff_t>(before.parameters);
  p.buffers += before.buffers;
  p.key.layer += before.layers;
}

/// The phases of a pass in which a layer runs. Layers that reduce over the places run in several phases, even without
/// samples. Other layers run in one phase, and only if there are samples.
struct layer_phases {
  std::size_t first;       ///< the layer's first phase
  std::size_t reductions;  ///< number of further phases
  bool one_phase;          ///< whether no layer reduces, so that the pass has one phase

  template <class P> bool contain(const pass<P>& p) const {
    if (one_phase) return true;
    return reductions == 0 ? p.phase == first && p.batch != 0
                           : p.phase - first <= reductions;  // earlier phases wrap around to large numbers
  }
  /// Whether the pass is in the last of these phases.
  bool end_at(std::size_t phase) const { return one_phase || phase == first + reductions; }
};

/// Base of the plans of chains and branches: plans of layers whose arenas are consecutive.
template <class... Plans> struct plan_list {
 protected:
  static constexpr std::size_t n = sizeof...(Plans);
  using plans = numbered_types<std::make_index_sequence<n>, Plans...>;
  template <std::size_t Index> using plan = typename decltype(plans::template find<Index>())::type;

  static constexpr std::array<std::size_t, n> plan_parameters{Plans::parameter_elements...};
  static constexpr std::array<std::size_t, n> plan_frozen{Plans::frozen_elements...};
  static constexpr std::array<std::size_t, n> plan_buffers{Plans::buffer_elements...};
  static constexpr std::array<std::size_t, n> plan_layers{Plans::layers...};
  static constexpr std::array<std::size_t, n> plan_reductions{Plans::reductions_per_pass...};
  static constexpr std::size_t sum_before(const std::array<std::size_t, n>& values, std::size_t index) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < index; ++i) total += values[i];
    return total;
  }

  template <std::size_t Index> static consteval elements_before before() {
    return {sum_before(plan_parameters, Index), sum_before(plan_frozen, Index), sum_before(plan_buffers, Index),
            sum_before(plan_layers, Index)};
  }
  template <std::size_t Index, bool Backward> static consteval layer_phases phases() {
    constexpr std::size_t all = sum_before(plan_reductions, n);
    return {Backward ? all - sum_before(plan_reductions, Index + 1) : sum_before(plan_reductions, Index),
            plan_reductions[Index], all == 0};
  }

  template <bool Buffers>
  static constexpr visited_layer visited_layers[] = {Plans::template visited<Buffers>(Plans::own_name)...};

 public:
  using layer_type = void;
  using without_backward = typename first_not_void<typename Plans::without_backward...>::type;
  static constexpr bool in_place = false;
  static constexpr bool reshapes = false;
  static constexpr bool reports_layers = true;
  static constexpr const char* own_name = by_position;
  static constexpr std::array<const char*, n> names{Plans::own_name...};
  static constexpr bool names_differ = all_differ(names);
  static_assert(names_differ,
                "devplace: named: two layers of one network have the same name, or a layer has the position of another "
                "as its name; parameters would have equal names.");
  static constexpr std::size_t layers = sum_before(plan_layers, n);
  static constexpr std::size_t links = 1;
  static constexpr runtime::layer_rows sliced_rows{};
  static constexpr std::size_t reductions_per_pass = sum_before(plan_reductions, n);
  static constexpr std::size_t reduction_integers = std::max({Plans::reduction_integers...});
  static constexpr std::size_t reduced_numbers = (Plans::reduced_numbers + ...);
  static constexpr std::size_t reduced_in_backward = (Plans::reduced_in_backward + ...);
  /// See layer_plan. A layer of a chain computes its input's gradient if layers before it have parameters.
  static constexpr strip_traffic exchanged(bool backward, bool dx) {
    strip_traffic sum;
    ((sum = sum + Plans::exchanged(backward, dx), dx = dx || Plans::parameter_elements != 0), ...);
    return sum;
  }
  static constexpr bool leaves_data = true;
  static constexpr std::size_t parameters = (Plans::parameters + ...);
  static constexpr std::size_t parameter_elements = sum_before(plan_parameters, n);
  static constexpr bool backward_reads = parameter_elements != 0;
  static constexpr std::size_t frozen_elements = sum_before(plan_frozen, n);
  static constexpr std::size_t buffer_elements = sum_before(plan_buffers, n);

  template <std::size_t Base, std::size_t Frozen>
  using entries = typename parameter_list<Base, Frozen, entry_list<>, Plans...>::type;

  template <bool Buffers, class F> static void for_each(const std::string& prefix, const arena_begin& begin, F&& f) {
    if constexpr ((Buffers ? buffer_elements : parameter_elements + frozen_elements) != 0) {
      constexpr const auto& own = Buffers ? plan_buffers : plan_parameters;
      std::size_t index = 0;
      ((Plans::template for_each<Buffers>(
            child_prefix(prefix, index, Plans::own_name),
            {begin.own + sum_before(own, index), begin.frozen + sum_before(plan_frozen, index)}, f),
        ++index),
       ...);
    }
  }
  template <bool Buffers> static constexpr visited_layer visited(const char* name) {
    return {.own_name = name,
            .elements = Buffers ? buffer_elements : parameter_elements,
            .frozen_elements = frozen_elements,
            .layers = visited_layers<Buffers>,
            .count = n};
  }
  static constexpr bool channels_first(bool of_inputs) {
    ((of_inputs = Plans::channels_first(of_inputs)), ...);
    return of_inputs;
  }
  /// Calls `f(prefix, plan)` for each layer; the input of a residual is not a layer.
  template <class F> static void visit_layers(const std::string& prefix, F&& f) {
    std::size_t index = 0;
    ((Plans::layers == 0 ? void() : Plans::visit_layers(child_prefix(prefix, index, Plans::own_name), f), ++index),
     ...);
  }
};

}  // namespace devplace::nn::detail
