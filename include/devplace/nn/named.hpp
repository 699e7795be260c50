// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/wrapper.hpp>

namespace devplace::nn {

namespace detail {

/// Holds a string literal as a template argument.
template <std::size_t Size> struct literal {
  char text[Size] = {};
  constexpr literal(const char (&from)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
  }
};

/// A name as a type with characters as arguments. Code recognises named layers by the member type layer_name, because
/// nvcc 13.0 does not match partial specialisations for `named`, whose template argument has a class type.
template <char... Character> struct name_of_layer {
  static constexpr char text[] = {Character..., 0};
  static constexpr std::string_view value{text, sizeof...(Character)};
  static_assert(!value.empty() && value.find('.') == std::string_view::npos,
                "devplace: named: names of parameters are the names of layers joined by dots, so a layer's name is not "
                "empty and has no dot: named<\"fc1\", linear<784, 256>>.");
};
template <literal Name, std::size_t... I> auto as_name(std::index_sequence<I...>) -> name_of_layer<Name.text[I]...>;

template <class Name, class... Layer> struct named_layer : wrapper<Layer...> {
  using layer_name = Name;
};

template <has_name Layer, class In> struct layer_plan<Layer, In> : layer_plan<typename Layer::wrapped_layer, In> {
  static constexpr bool has_no_name = !has_own_name(layer_plan<typename Layer::wrapped_layer, In>::own_name);
  static_assert(has_no_name, "devplace: named: the layer has a name already; give each layer only one.");
  static constexpr const char* own_name = Layer::layer_name::text;
};

}  // namespace detail

/// Gives a layer or network a name, which replaces its position in the names of parameters: `sequential<named<"fc1",
/// linear<784, 256>>>` has `fc1.weight`, as PyTorch names a module's attribute.
template <detail::literal Name, class Layer, class... More>
struct named : detail::named_layer<decltype(detail::as_name<Name>(std::make_index_sequence<sizeof Name.text - 1>{})),
                                   Layer, More...> {};

}  // namespace devplace::nn
