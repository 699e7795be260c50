// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/pass.hpp>

namespace devplace::optim {

/// Groups a network's parameters by the options that a rule applies to them: the factor of the learning rate, and
/// whether weights decay.
template <class Net, class Rule> struct option_groups {
 private:
  using plan = runtime::network_plan<Net>;
  static constexpr std::size_t parameters = plan::offsets.size();
  static constexpr option_factors factors_of(std::size_t parameter) {
    const bool decays = !requires { requires Rule::decays_matrices_alone; } || plan::ranks[parameter] > 1;
    return {plan::learning_rates[parameter], decays ? 1.0 : 0.0};
  }
  struct division {
    std::array<option_factors, parameters + 1> factors{};
    std::array<std::size_t, parameters + 1> group{};  ///< group of each parameter
    std::size_t count = 0;
  };
  static constexpr division divide() {
    division d;
    for (std::size_t i = 0; i < parameters; ++i) {
      std::size_t& group = d.group[i];
      while (group < d.count && !(d.factors[group] == factors_of(i))) ++group;
      if (group == d.count) d.factors[d.count++] = factors_of(i);
    }
    if (d.count == 0) d.count = 1;
    return d;
  }
  static constexpr division all = divide();
  static_assert(all.count <= 256, "devplace: optimizer: at most 256 groups of parameters may have different options.");

 public:
  /// Number of groups, and each group's factors.
  ///@{
  static constexpr std::size_t count = all.count;
  static constexpr const option_factors* factors = all.factors.data();
  ///@}
  /// Whether there is one group and its factors are 1.
  static constexpr bool none = count == 1 && all.factors[0] == option_factors{};
  /// Bytes of the table on a place; 0 without groups.
  static constexpr std::size_t table_bytes = none ? 0 : plan::parameter_elements / runtime::element_alignment;

  /// Bytes of the state of a rule for `parts` parts that have `elements` elements of type T together: its arenas, step
  /// memory and the table.
  template <class T> static constexpr std::size_t state_bytes(std::size_t elements, std::size_t parts) {
    return Rule::state_arenas * sizeof(T) * elements + step_memory_bytes * count * parts + table_bytes;
  }

  /// Returns the table on a place: one byte, the group, for each element_alignment elements of the arena.
  template <class Backend> static devplace::detail::memory_block table(int ordinal) {
    std::vector<std::uint8_t> groups;
    groups.reserve(table_bytes);
    for (std::size_t i = 0; i < parameters; ++i) {
      const std::size_t end = i + 1 == parameters ? plan::parameter_elements : plan::offsets[i + 1];
      groups.resize(end / runtime::element_alignment, static_cast<std::uint8_t>(all.group[i]));
    }
    auto block = devplace::detail::allocate<Backend>(ordinal, groups.size(), memory_purpose::optimizer_state);
    devplace::detail::copy_in<Backend>(ordinal, block.data(), groups.data(), groups.size());
    return block;
  }
};

}  // namespace devplace::optim
