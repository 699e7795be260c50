// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/memory/block.hpp>
#include <devplace/optim/detail/replica_update.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/optimizer_state.hpp>

namespace devplace::optim::detail {

/// Copies a part of the state to the host. All parts have equal step memory, since they make the same steps.
template <class Backend, class Rule, class T, std::size_t Groups>
void read_part(int ordinal, const replica_state<Rule, T, Groups>& part, optimizer_state<Rule, T>& whole) {
  if (part.range.count == 0) return;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    devplace::detail::copy_out<Backend>(ordinal, whole.arenas[i].data() + part.range.first, part.arenas[i].data(),
                                        part.range.count * sizeof(T));
  devplace::detail::copy_out<Backend>(ordinal, whole.step_memory.data(), part.steps.data(), whole.step_memory.size());
  whole.sent.assign(part.sent.begin(), part.sent.end());
}

template <class Backend, class Rule, class T, std::size_t Groups>
void write_part(int ordinal, replica_state<Rule, T, Groups>& part, const optimizer_state<Rule, T>& whole) {
  if (part.range.count == 0) return;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    devplace::detail::copy_in<Backend>(ordinal, part.arenas[i].data(), whole.arenas[i].data() + part.range.first,
                                       part.range.count * sizeof(T));
  devplace::detail::copy_in<Backend>(ordinal, part.steps.data(), whole.step_memory.data(), whole.step_memory.size());
  std::copy(whole.sent.begin(), whole.sent.end(), part.sent.begin());
}

}  // namespace devplace::optim::detail
