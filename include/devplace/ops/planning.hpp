// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>

namespace devplace::op {

/// Provides a type `scope` in place of `run`. While a scope exists, this thread's operations on the backend's devices
/// make library plans, allocate workspaces, and enqueue nothing. Not implemented by backends whose operations need no
/// plans (CPU, simulated devices).
struct planning {};

/// `run(ordinal)`: allocates the workspace that all operations on a device share. Not implemented by backends without
/// such a workspace: operations on the CPU use the stack and a buffer of each thread for matrix products.
struct workspaces {};

}  // namespace devplace::op

namespace devplace::detail {

/// While a scope exists, operations only make plans, which they otherwise make at their first use. Scopes must not be
/// nested.
template <class Backend> using planning_scope = typename implementation<Backend, op::planning>::scope;

/// Allocates the workspace of products and reductions on a backend's device, so that these allocate nothing later. The
/// workspace is freed only at the end of the process.
template <class Backend> void prepare_workspaces([[maybe_unused]] int ordinal) {
  if constexpr (provided<Backend, op::workspaces>) implementation<Backend, op::workspaces>::run(ordinal);
}

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(planning)
