// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>

#include <devplace/nn/detail/branch_fit.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>

namespace devplace::nn {

/// x + f(x), where f is the sequence of layers; the output of f must have the extents of its input. Parameters are
/// named by position: `1.0.weight` belongs to the first layer of a residual at position 1.
///
/// With projected_by in front: f(x) + s(x), where s is the sequence of the projection's layers:
/// `residual<projected_by<conv2d<8, 16, kernel<1>, stride<2>>>, conv2d<8, 16, kernel<3>, stride<2>, padding<1>>, relu,
/// conv2d<16, 16, kernel<3>, padding<1>>>`. f and s must have outputs of the same extents. The parameters of s come
/// after the parameters of f: `1.shortcut.0.weight`.
template <class... Layers> struct residual {
  static_assert(sizeof...(Layers) > 0, "devplace: residual needs at least one layer.");
};

/// The layers of a residual's shortcut, in sequence. Stands in front of the residual's layers.
template <class... Layers> struct projected_by {
  static_assert(sizeof...(Layers) > 0, "devplace: projected_by needs at least one layer.");
};

namespace detail {

template <class... Layers> struct network_input<residual<Layers...>> : network_input<sequential<Layers...>> {};
template <class... Shortcut, class... Layers>
struct network_input<residual<projected_by<Shortcut...>, Layers...>>
    : input_of_branches<sequential<Layers...>, sequential<Shortcut...>> {};

/// Combines the results of a residual.
struct join_of_residual : join_by_sum {
  using rule = residual_of_one_size;
};

/// The layers of a residual. In names and paths, their positions directly follow the residual's position.
template <class In, class... Layers> struct residual_layers : layer_plan<sequential<Layers...>, In> {
  static constexpr const char* own_name = "";
};
/// The input, which does not count as a layer.
template <class In> struct residual_input : layer_plan<identity, In> {
  static constexpr std::string_view name{};
  static constexpr std::size_t layers = 0;
};
/// The layers of the shortcut; the name of a single named layer replaces `shortcut`.
template <class In, class... Layers> struct residual_shortcut : layer_plan<sequential<Layers...>, In> {
  static constexpr bool is_named = sizeof...(Layers) == 1 && has_own_name(residual_shortcut::names[0]);
  static constexpr const char* own_name = is_named ? "" : "shortcut";
  static constexpr std::string_view name = is_named ? residual_shortcut::names[0] : own_name;
};

template <class In, class Main, class Shortcut> struct residual_plan : branches<join_of_residual, In, Main, Shortcut> {
  static constexpr bool names_differ = [] {
    bool differ = true;
    for (std::size_t i = 0; i < Main::names.size(); ++i)
      differ = differ && !is_called(Main::names[i], i, Shortcut::name);
    return differ;
  }();
  static_assert(names_differ,
                "devplace: residual: one of its layers has the name of its shortcut, \"shortcut\" or the name of "
                "projected_by's only layer; parameters would have equal names.");
  static_assert(!residual_plan::own_input_elements,
                "devplace: residual adds its layers' result to its input, so its first layer must take activations, "
                "not elements of its own type (input_element).");
  using wrong_layer = typename first_not_void<typename Main::wrong_layer, typename Shortcut::wrong_layer>::type;
  using first_misfit = typename first_not_void<
      typename Main::first_misfit, typename within<shortcut, typename Shortcut::first_misfit>::type,
      typename unequal_outputs<join_of_residual, typename Main::output, typename Shortcut::output>::type>::type;
};

template <class In, class... Layers>
struct layer_plan<residual<Layers...>, In> : residual_plan<In, residual_layers<In, Layers...>, residual_input<In>> {};
template <class In, class... Shortcut, class... Layers>
struct layer_plan<residual<projected_by<Shortcut...>, Layers...>, In>
    : residual_plan<In, residual_layers<In, Layers...>, residual_shortcut<In, Shortcut...>> {
  static_assert(sizeof...(Layers) > 0, "devplace: residual needs at least one layer after projected_by<...>.");
};

}  // namespace detail
}  // namespace devplace::nn
