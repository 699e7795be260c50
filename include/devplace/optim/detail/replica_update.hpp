// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/optimizer_state.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::optim {

/// Elements that an optimizer updates together on a place.
struct share {
  std::size_t first;  ///< the first one, in an arena of all trained parameters
  std::size_t count;  ///< number of elements
  std::size_t at;     ///< the first one in the place's arenas
};

}  // namespace devplace::optim

namespace devplace::optim::detail {

/// The state of an optimizer for a part of one replica, initially zero: arenas of the part's size, and the rule's step
/// memory.
template <class Rule, class T, std::size_t Groups> struct replica_state {
  share range = {};
  std::array<devplace::detail::memory_block, max_state_arenas> arenas;
  devplace::detail::memory_block steps;
  alignas(std::max_align_t) std::array<std::byte, step_memory_bytes * Groups> sent{};  ///< bytes last sent to `steps`
};

/// Sets the arguments of a step that do not depend on where the parameters are. Elements are counted from element
/// `begin` of the part.
template <class Options, class Arguments, class Rule, class T, std::size_t Groups>
void set_arguments(Arguments& arguments, replica_state<Rule, T, Groups>& state, std::size_t begin,
                   const devplace::detail::memory_block& table, const T* weights, bool divides,
                   const runtime::step_factors<T>& factors, std::int64_t step) {
  if constexpr (!Options::none) {
    arguments.factors = Options::factors;
    arguments.groups = Options::count;
    arguments.group_of = static_cast<const std::uint8_t*>(table.data());
    arguments.first = state.range.first + begin;
  }
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    arguments.state[i] = static_cast<T*>(state.arenas[i].data()) + begin;
  arguments.divisor = divides ? weights : nullptr;
  arguments.gradient_factor = factors.factor;
  arguments.skip = factors.skip;
  arguments.weights = weights;
  arguments.step = step;
  arguments.step_memory = state.steps.data();
  arguments.sent = state.sent.data();
}

/// The arguments of steps without a working copy.
template <class Options, class T>
using plain_arguments = std::conditional_t<Options::none, step_arguments<T>, grouped_step_arguments<T>>;

/// Updates a part of one replica's parameters. `weights` is the sum of weights, by which a mean `divides`; `table` has
/// the groups of `Options`, if any. If `Rounds` and the working copy has another type than the parameters, also passes
/// the working copy. Returns whether the update writes the working copy.
template <class Options, bool Rounds, class Rule, class T, class Backend, class S>
bool update(const Rule& rule, const runtime::replica<S>& r, replica_state<Rule, T, Options::count>& state,
            const devplace::detail::memory_block& table, const T* weights, bool divides,
            const runtime::step_factors<T>& factors, std::int64_t step) {
  constexpr bool rounds = Rounds && runtime::replica<S>::has_working_copy;
  bool wrote_working = false;
  if (state.range.count == 0) return wrote_working;
  using plain = plain_arguments<Options, T>;
  using rounding = working_step_arguments<plain, typename runtime::replica<S>::working>;
  std::conditional_t<rounds, rounding, plain> arguments;
  if constexpr (rounds) {
    arguments.working = r.working_data() + state.range.at;
    arguments.wrote_working = &wrote_working;
  }
  arguments.ordinal = r.ordinal;
  arguments.n = state.range.count;
  arguments.parameters = r.parameter_data() + state.range.at;
  arguments.gradients = r.gradient_data() + state.range.at;
  set_arguments<Options>(arguments, state, 0, table, weights, divides, factors, step);
  rule.template step<Backend>(arguments);
  return wrote_working;
}

/// Allocates the state for a part of one replica. `Backend` may be that of pinned memory.
template <class Backend, class Rule, class T, std::size_t Groups>
void allocate_state(replica_state<Rule, T, Groups>& state, int ordinal, const share& range) {
  constexpr auto purpose = memory_purpose::optimizer_state;
  state.range = range;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    runtime::assign_zeros<T, Backend>(state.arenas[i], ordinal, range.count, purpose);
  runtime::assign_zeros<T, Backend>(state.steps, ordinal, Groups * step_memory_bytes / sizeof(T), purpose);
}

/// Copies a part of the state to the host. All parts have equal step memory, since they make the same steps.
template <class Backend, class Rule, class T, std::size_t Groups>
void read_part(int ordinal, const replica_state<Rule, T, Groups>& part, optimizer_state<saved_rule_t<Rule>, T>& whole) {
  if (part.range.count == 0) return;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    devplace::detail::copy_out<Backend>(ordinal, whole.arenas[i].data() + part.range.first, part.arenas[i].data(),
                                        part.range.count * sizeof(T));
  devplace::detail::copy_out<Backend>(ordinal, whole.step_memory.data(), part.steps.data(), whole.step_memory.size());
  whole.sent.assign(part.sent.begin(), part.sent.end());
}

template <class Backend, class Rule, class T, std::size_t Groups>
void write_part(int ordinal, replica_state<Rule, T, Groups>& part,
                const optimizer_state<saved_rule_t<Rule>, T>& whole) {
  if (part.range.count == 0) return;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    devplace::detail::copy_in<Backend>(ordinal, part.arenas[i].data(), whole.arenas[i].data() + part.range.first,
                                       part.range.count * sizeof(T));
  devplace::detail::copy_in<Backend>(ordinal, part.steps.data(), whole.step_memory.data(), whole.step_memory.size());
  std::copy(whole.sent.begin(), whole.sent.end(), part.sent.begin());
}

}  // namespace devplace::optim::detail
