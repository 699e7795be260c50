// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/ops/workspaces.hpp>

namespace devplace {

/// On the CPU operations work on the stack, and in what the matrix engine keeps for each thread.
template <>
struct implementation<backend::cpu, op::workspaces> {
  static void run(int) {}
};

}  // namespace devplace
