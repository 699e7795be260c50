// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>

#include <devplace/nn/detail/chain.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn {

/// Consecutive layers: `sequential<linear<784, 256>, relu, linear<256, 10>>`. A placement-free type; parameters are
/// named by position, as in PyTorch: `0.weight`, `0.bias`, `2.weight`. The compiler checks the sizes of all layers
/// where the type is used; the error message names the layer and both sizes.
template <class... Layers> struct sequential {
  /// Whether there are layers; named in the error message.
  static constexpr bool has_layers = sizeof...(Layers) > 0;
  static_assert(has_layers, "devplace: sequential needs at least one layer.");
  /// Makes a network, which has no data.
  constexpr sequential() = default;
  /// Deduces the type from objects: a model of `sequential layers{...}` takes decltype(layers).
  constexpr explicit sequential(const Layers&...)
    requires has_layers
  {}
};

namespace detail {

/// The layer itself, or the last layer of a network.
template <class Layer> struct last_layer : std::type_identity<Layer> {};
template <class First, class... Rest>
struct last_layer<sequential<First, Rest...>>
    : last_layer<typename decltype((std::type_identity<First>{}, ..., std::type_identity<Rest>{}))::type> {};

/// The plan of a layer that gets samples of extents `In`, its first wrong layer and its first misfit, each void if
/// there is none. The misfit's path begins with `Step`, the layer's position.
template <class Step, class Layer, class In> struct layer_fit {
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

/// The plans of a chain of layers; each layer takes the output of the previous layer.
template <std::size_t Index, class In, class Done, class... Layers> struct chain_plans;
template <std::size_t Index, class In, class... Done> struct chain_plans<Index, In, std::tuple<Done...>> {
  using type = std::tuple<Done...>;
  static constexpr bool faultless = true;  ///< all are layers, and each takes the previous layer's output
};
template <std::size_t Index, class In, class... Done, class Layer, class... Rest>
struct chain_plans<Index, In, std::tuple<Done...>, Layer, Rest...> {
  using plan = layer_plan<Layer, typename taken_by<Layer, In>::type>;
  using next = chain_plans<Index + 1, typename plan::output, std::tuple<Done..., plan>, Rest...>;
  using type = typename next::type;
  static constexpr bool faultless = is_layer<typename plan::wrong_layer> && !takes_another<Layer, In> &&
                                    layers_fit<typename plan::first_misfit> && next::faultless;
};

// The first wrong layer and the first misfit of a chain, void if there is none. Only chains with a fault are searched,
// because nvcc's front end takes time exponential in the number of layers for the search.
template <bool Faultless, class Plans> struct faults_in {
  using wrong_layer = void;
  using first_misfit = void;
};
template <std::size_t Index, class In, class Done, class Layer, class... Rest>
struct faults_in<false, chain_plans<Index, In, Done, Layer, Rest...>> {
  using next = typename chain_plans<Index, In, Done, Layer, Rest...>::next;
  using own = layer_fit<position<Index>, Layer, In>;
  using others = faults_in<next::faultless, next>;
  using wrong_layer = typename first_not_void<typename own::wrong_layer, typename others::wrong_layer>::type;
  using first_misfit = typename first_not_void<typename own::first_misfit, typename others::first_misfit>::type;
};

template <class In, class... Layers>
struct layer_plan<sequential<Layers...>, In> : chain<In, typename chain_plans<0, In, std::tuple<>, Layers...>::type> {
  using plans = chain_plans<0, In, std::tuple<>, Layers...>;
  using faults = faults_in<plans::faultless, plans>;
  using wrong_layer = typename faults::wrong_layer;
  using first_misfit = typename faults::first_misfit;
};

/// `type`: the extents of one sample at a network's input, if the first layer determines them.
template <class Net> struct network_input {};
template <fixes_input Net> struct network_input<Net> : std::type_identity<typename Net::input_extents> {};
template <class First, class... Rest> struct network_input<sequential<First, Rest...>> : network_input<First> {};

/// The element type of a network's input: the type that the first layer requires, or the activations' type.
template <class Net, class Activation> struct input_element : std::type_identity<own_element_t<Net, Activation>> {};
template <class First, class... Rest, class Activation>
struct input_element<sequential<First, Rest...>, Activation> : input_element<First, Activation> {};
template <class First, class Second, class... Rest, class Activation>
  requires(reshapes_only<First>())
struct input_element<sequential<First, Second, Rest...>, Activation>
    : input_element<sequential<Second, Rest...>, Activation> {};

template <class Net>
concept knows_input = requires { typename network_input<Net>::type; };

#define DEVPLACE_DETAIL_UNKNOWN_INPUT                                                                                \
  "devplace: the network's input extents are unknown; put nn::input<28, 28> (one sample's extents) in front of its " \
  "layers."

template <class Net> struct checked_input {
  static_assert(knows_input<Net>, DEVPLACE_DETAIL_UNKNOWN_INPUT);
  using type = typename network_input<Net>::type;
};

template <std::size_t Index, class List> struct entry_at;
template <std::size_t Index, class... Entries> struct entry_at<Index, entry_list<Entries...>> {
  static constexpr bool exists = Index < sizeof...(Entries);
  static_assert(exists, "devplace: the network has fewer parameters than this index; parameter_names() lists them.");
  using entries = numbered_types<std::make_index_sequence<sizeof...(Entries)>, Entries...>;
  static constexpr std::size_t index = exists ? Index : 0;
  using type = typename decltype(entries::template find<index>())::type;
};

/// Facts about a list of parameters; arrays are about the trained ones.
template <class List> struct entry_facts;
template <class... Entries> struct entry_facts<entry_list<Entries...>> {
  static constexpr std::size_t count = sizeof...(Entries);
  static constexpr std::size_t trained = (std::size_t{0} + ... + (Entries::frozen ? 0 : 1));
  template <class T> static constexpr std::array<T, trained> of_trained(const std::array<T, sizeof...(Entries)>& all) {
    const std::array<bool, sizeof...(Entries)> frozen{Entries::frozen...};
    std::array<T, trained> result{};
    for (std::size_t i = 0, next = 0; i < all.size(); ++i)
      if (!frozen[i]) result[next++] = all[i];
    return result;
  }
  static constexpr auto offsets = of_trained<std::size_t>({Entries::offset...});
  static constexpr auto ranks = of_trained<std::size_t>({Entries::extents::rank...});
  static constexpr auto learning_rates = of_trained<double>({Entries::learning_rate...});
};

}  // namespace detail

/// A network whose first layer determines the extents of a sample.
template <class Net>
concept network = std::is_class_v<Net> && detail::knows_input<Net>;

/// Whether a layer, or a network's last layer, declares that its outputs are probabilities, or arbitrary numbers.
/// Trainers reject networks that give probabilities if the loss has `takes_logits` or `takes_log_probabilities`, and
/// networks that give arbitrary numbers if the loss has `takes_log_probabilities`.
///@{
template <class Net>
inline constexpr bool gives_probabilities = requires { requires detail::last_layer<Net>::type::gives_probabilities; };
template <class Net>
inline constexpr bool gives_any_numbers = requires { requires detail::last_layer<Net>::type::gives_any_numbers; };
///@}

}  // namespace devplace::nn

namespace devplace::runtime {

template <class Net> struct network_plan : nn::detail::layer_plan<Net, typename nn::detail::checked_input<Net>::type> {
 private:
  static constexpr std::size_t trained = network_plan::parameter_elements;
  using list = typename network_plan::template entries<0, trained>;
  using facts = nn::detail::entry_facts<list>;
  static std::string prefix() { return nn::detail::network_prefix(network_plan::own_name); }

 public:
  /// The number of parameters, and the number of elements of their arena. The arena holds the trained parameters first
  /// and then the frozen parameters.
  static constexpr std::size_t parameter_count = facts::count;
  static constexpr std::size_t arena_elements = trained + network_plan::frozen_elements;
  using input = typename nn::detail::checked_input<Net>::type;
  /// The network's links (runtime::link_range) for a backend's passes.
  template <class Backend>
  static constexpr std::array<link, network_plan::links> links_for = [] {
    std::array<link, network_plan::links> result{};
    nn::detail::store_links_of<network_plan, Backend>(result.data(), false, false, network_plan::sliced_rows);
    return result;
  }();
  /// Whether backward reads the network's output.
  static constexpr bool keeps_output = nn::detail::includes(network_plan::keeps, nn::keep::output);
  /// The element types of the network's input and output in precision `P`.
  template <class P>
  using input_element = typename nn::detail::input_element<Net, typename precision_traits<P>::input>::type;
  template <class P>
  using output_element = std::conditional_t<network_plan::keeps_elements && network_plan::own_input_elements,
                                            input_element<P>, element_of_t<P>>;
  /// Whether samples are rounded to activations before the first layer, and the element type that the first layer
  /// reads.
  template <class P>
  static constexpr bool rounds_input =
      !network_plan::own_input_elements && !std::is_same_v<input_element<P>, element_of_t<P>>;
  template <class P> using first_element = std::conditional_t<rounds_input<P>, element_of_t<P>, input_element<P>>;
  template <std::size_t Index> using parameter_at = typename nn::detail::entry_at<Index, list>::type;
  /// Call `f(name, entry, offset)` for every parameter, or for every buffer.
  template <class F> static void for_each_parameter(F&& f) {
    network_plan::template for_each<false>(prefix(), {0, trained}, f);
  }
  template <class F> static void for_each_buffer(F&& f) { network_plan::template for_each<true>(prefix(), {0, 0}, f); }
  /// Call `f(name, parameter, offset)` for every parameter, or for every buffer; `parameter` is the entry of the
  /// layer's table. These functions generate less code than for_each_parameter; `f` does not get extents as types.
  template <class F> static void visit_parameters(const F& f) {
    visit_entries(visited_parameters, prefix(), {0, trained}, nn::detail::entry_visitor(f));
  }
  template <class F> static void visit_buffers(const F& f) {
    visit_entries(visited_buffers, prefix(), {0, 0}, nn::detail::entry_visitor(f));
  }
  static constexpr auto visited_parameters = network_plan::template visited<false>(network_plan::own_name);
  /// Calls `f(first, count, frozen)` for the elements of each layer that reads parameters in the optimizer's type,
  /// counted among the trained or the frozen elements.
  static constexpr void visit_masters(const auto& f) { nn::detail::visit_masters(visited_parameters, {0, 0}, f); }
  static constexpr auto visited_buffers = network_plan::template visited<true>(network_plan::own_name);
  /// Calls `f(prefix, plan)` for every layer, where `prefix` begins the names of its parameters.
  template <class F> static void for_each_layer(F&& f) { network_plan::visit_layers(prefix(), f); }
  static constexpr auto offsets = facts::offsets;
  static constexpr auto ranks = facts::ranks;
  static constexpr auto learning_rates = facts::learning_rates;
};

}  // namespace devplace::runtime

namespace devplace::nn {

/// One sample's extents at the network's output.
template <class Net> using network_output_t = typename runtime::network_plan<Net>::output;

}  // namespace devplace::nn
