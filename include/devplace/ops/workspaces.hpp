// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>

namespace devplace::op {

/// `run(ordinal)`: allocates the workspace of a device's operations, once for all of them. Not implemented by backends
/// without such a workspace (the CPU's operations use the stack and the matrix engine's buffer per thread).
struct workspaces {};

}  // namespace devplace::op

namespace devplace::detail {

/// Allocates the workspace of products and reductions on a backend's device, so that these allocate nothing later. The
/// workspace is freed only at the end of the process.
template <class Backend> void prepare_workspaces([[maybe_unused]] int ordinal) {
  if constexpr (provided<Backend, op::workspaces>) implementation<Backend, op::workspaces>::run(ordinal);
}

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(workspaces)
