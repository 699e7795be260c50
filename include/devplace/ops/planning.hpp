// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// Has no run, but a type `scope`: while an object of it exists, this thread's operations on the backend's devices make
/// the plans of libraries and allocate the workspaces that they need, and enqueue nothing. Backends whose operations
/// need no plans (the CPU's, and simulated devices') do not implement it.
struct planning {};

}  // namespace op

namespace detail {

/// Whether a backend's operations make plans at their first use, which can be made before it.
template <class Backend>
constexpr bool makes_plans() {
  return provided<Backend, op::planning>;
}

/// While it exists, operations make plans only. Not to be nested.
template <class Backend>
using planning_scope = typename implementation<Backend, op::planning>::scope;

}  // namespace detail

}  // namespace devplace

#include DEVPLACE_CUDA_BACKEND(planning)
