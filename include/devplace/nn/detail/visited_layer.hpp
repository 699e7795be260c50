// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/base/function_view.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/parameter.hpp>

// Visits the parameters of a network as run-time values, so that the code of visitors compiles once for all networks.

namespace devplace::nn::detail {

/// Composes names of parameters, such as `0.weight`, outside of templates to reduce instantiated code.
inline std::string child_name(const std::string& prefix, const char* name) {
  return devplace::detail::joined({prefix, name});
}
/// Marks a layer that is named by its position. A dot, because nn::named accepts no dot in names. (Not null, because
/// g++ 12 with -fsanitize=undefined does not compare addresses with null in constant expressions.)
inline constexpr char by_position[] = ".";
constexpr bool has_own_name(const char* name) { return *name != *by_position; }
/// Appends the name of the layer at position `index`, unless the name is empty.
inline std::string child_prefix(const std::string& prefix, std::size_t index, const char* own_name) {
  if (!has_own_name(own_name)) return devplace::detail::joined({prefix, index, "."});
  return devplace::detail::joined({prefix, own_name, *own_name == 0 ? "" : "."});
}
/// The prefix of a whole network's names: the network's own name, if it has one.
inline std::string network_prefix(const char* own_name) {
  return has_own_name(own_name) ? child_prefix({}, 0, own_name) : std::string();
}

/// Where a layer's elements begin in arenas: its parameters or buffers, and its frozen parameters.
struct arena_begin {
  std::size_t own, frozen;
};

/// A function that is called for each parameter, or each buffer, with its name, table entry and offset in the arena.
using entry_visitor = devplace::detail::function_view<const std::string&, const parameter&, std::size_t>;
/// The parameters, or the buffers, of a layer or of a list of layers, as run-time values.
struct visited_layer {
  const char* own_name;
  std::size_t elements, frozen_elements;
  const parameter* table = nullptr;  ///< a layer's own entries; `frozen`: among the frozen parameters
  std::size_t entries = 0;
  bool frozen = false;
  bool reads_masters = false;             ///< whether a layer reads its parameters in the optimizer's type
  const visited_layer* layers = nullptr;  ///< the layers of a list
  std::size_t count = 0;
};
/// Calls f(first, count, frozen) for the layers that read parameters in the optimizer's type: the first element of the
/// layer's parameters among the trained or the frozen ones, and their number.
constexpr void visit_masters(const visited_layer& list, arena_begin begin, const auto& f) {
  if (list.reads_masters)
    list.frozen ? f(begin.frozen, list.frozen_elements, true) : f(begin.own, list.elements, false);
  for (std::size_t i = 0; i != list.count; ++i) {
    visit_masters(list.layers[i], begin, f);
    begin.own += list.layers[i].elements;
    begin.frozen += list.layers[i].frozen_elements;
  }
}
/// Calls a visitor for all entries. Names are as in PyTorch and begin with `prefix`.
DEVPLACE_COMPILABLE()
void visit_entries(const visited_layer& list, const std::string& prefix, arena_begin begin, const entry_visitor& f) {
  std::size_t& offset = list.frozen ? begin.frozen : begin.own;
  for (std::size_t i = 0; i != list.entries; ++i) {
    f(child_name(prefix, list.table[i].name), list.table[i], offset);
    offset += padded(list.table[i].shape.size());
  }
  for (std::size_t i = 0; i != list.count; ++i) {
    const visited_layer& layer = list.layers[i];
    visit_entries(layer, child_prefix(prefix, i, layer.own_name), begin, f);
    begin.own += layer.elements;
    begin.frozen += layer.frozen_elements;
  }
}
DEVPLACE_COMPILED(void visit_entries(const visited_layer&, const std::string&, arena_begin, const entry_visitor&))

}  // namespace devplace::nn::detail
