// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/ops/workspaces.hpp>

namespace devplace {

/// CPU operations need no workspace besides the stack and the matrix engine's buffer per thread.
template <>
struct implementation<backend::cpu, op::workspaces> {
  static void run(int) {}
};

}  // namespace devplace
