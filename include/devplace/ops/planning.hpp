// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>

namespace devplace::op {

/// Provides a type `scope` in place of `run`. While a scope exists, this thread's operations on the backend's devices
/// make library plans, allocate workspaces, and enqueue nothing. Not implemented by backends whose operations need no
/// plans (CPU, simulated devices).
struct planning {};

}  // namespace devplace::op

namespace devplace::detail {

/// Whether a backend's operations make plans, at their first use or earlier in a planning_scope.
template <class Backend> constexpr bool makes_plans() { return provided<Backend, op::planning>; }

/// While a scope exists, operations only make plans. Scopes must not be nested.
template <class Backend> using planning_scope = typename implementation<Backend, op::planning>::scope;

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(planning)
