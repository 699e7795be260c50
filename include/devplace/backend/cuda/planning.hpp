// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace::detail {

/// Returns whether this thread's operations on cuda places only make library plans and allocate their workspaces,
/// without enqueueing work (ops/planning.hpp).
inline bool& only_plans() {
  static thread_local bool enabled = false;
  return enabled;
}

}  // namespace devplace::detail
