// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/optimizer_state.hpp>
#include <devplace/place/place.hpp>

namespace devplace::optim {

/// A rule whose state lies in pinned memory of the host, with a copy of the parameters, so that devices need no memory
/// for it: `trainer step{model, loss, optim::on_host<optim::adam>{{.learning_rate = 1e-3}}}`, or
/// `optim::on_host{optim::adam{}}`. The host's processor updates the parameters. In each step the gradients are copied
/// from the device and the new parameters to the device, in pieces of 1 MiB, while the processor updates other pieces.
/// Replicas on several places of a process have one state together, and places with shares of the parameters have the
/// state of their shares. A step waits for the gradients, so GPUs do not launch it as one graph. The bits are those of
/// the rule on the CPU with the same gradients. On the CPU the rule is the wrapped rule.
///
/// Inherits the rule's members: `step.optimizer().rule().learning_rate = x`. Checkpoints and states are those of the
/// wrapped rule, so trainings continue with or without on_host. Wraps other wrappers: `on_host<scheduled<...>>`.
template <class Rule> struct on_host : Rule {
  /// Conditions, named in error messages.
  ///@{
  static constexpr bool is_rule = optimizer_rule<Rule>;
  static constexpr bool is_on_device = !requires { requires Rule::updates_on_host; };
  ///@}
  static_assert(is_rule,
                "devplace: on_host: its argument is an optimizer's rule, as in optim::on_host<optim::adam>{{"
                ".learning_rate = 1e-3}}.");
  static_assert(is_on_device,
                "devplace: on_host: the rule is on the host already; write optim::on_host once, outside of all other "
                "wrappers.");
  /// Tells optimizers and memory_plan where the state lies.
  static constexpr bool updates_on_host = true;

  /// Copies the rule with its hyperparameters.
  constexpr explicit on_host(const Rule& rule = {}) : Rule(rule) {}
};

/// States are saved as those of the wrapped rule.
template <class Rule> struct saved_rule<on_host<Rule>> : std::type_identity<Rule> {};

/// Whether the host updates the parameters of a backend's places by a rule. Places of the CPU update in place.
template <class Rule, class Backend>
inline constexpr bool updates_on_host =
    !std::is_same_v<Backend, backend::cpu> && requires { requires Rule::updates_on_host; };

/// Number of elements that are copied together: 1 MiB, in whole parts of the CPU's update, so that the bits do not
/// depend on the division.
template <class T> inline constexpr std::size_t host_chunk = (std::size_t{1} << 20) / sizeof(T);

/// Bytes in pinned memory in addition to the state, for a place that updates `elements` elements: the parameters, two
/// chunks of gradients, and the numbers of a step.
template <class T> constexpr std::size_t host_copy_bytes(std::size_t elements) {
  return (elements + 2 * std::min(elements, host_chunk<T>)) * sizeof(T) + devplace::detail::alignment;
}

}  // namespace devplace::optim
