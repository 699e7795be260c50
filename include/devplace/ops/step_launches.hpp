// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace {

/// How the work of a trainer's last step was launched on GPUs.
struct step_launches {
  std::size_t graphs = 0;                   ///< launches of graphs
  std::size_t in_graphs = 0;                ///< kernels, products and copies in these graphs
  std::size_t single = 0;                   ///< kernels, products and copies launched one by one
  const char* interrupted_after = nullptr;  ///< the kernel after which the first graph had to end early; null: none
};

}  // namespace devplace
