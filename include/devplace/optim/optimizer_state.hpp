// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace devplace::optim {

/// The rule whose state is saved for a rule: the rule itself, or the rule in on_host.
template <class Rule> struct saved_rule : std::type_identity<Rule> {};
/// The member `type` of saved_rule.
template <class Rule> using saved_rule_t = typename saved_rule<Rule>::type;

/// The whole state of an optimizer on the host, independent of its distribution over places. Checkpoints keep it.
template <class Rule, class T> struct optimizer_state {
  Rule rule;                           ///< the hyperparameters
  std::int64_t steps = 0;              ///< number of steps so far
  std::vector<std::vector<T>> arenas;  ///< Rule::state_arenas, each with the layout of the trained parameters
  std::vector<std::byte> step_memory;  ///< the rule's memory on a place
  std::vector<std::byte> sent;         ///< the host's copy of the bytes last sent to the place
};

}  // namespace devplace::optim
