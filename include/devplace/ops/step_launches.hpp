// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>

namespace devplace {

/// How the work of a trainer's last step was launched on GPUs. All numbers are 0 on other places, and after
/// launch_as_graphs(false).
struct step_launches {
  std::size_t graphs = 0;                   ///< launches of graphs
  std::size_t in_graphs = 0;                ///< kernels, products and copies in these graphs
  std::size_t single = 0;                   ///< kernels, products and copies launched one by one
  const char* interrupted_after = nullptr;  ///< the kernel after which the first graph had to end early; null: none
};

namespace detail {

/// A trainer's graphs, and how its last step was launched. The pointer to the graphs has no type, so that a trainer has
/// the same size in files that are compiled without CUDA's kernels.
struct launch_memory {
  std::shared_ptr<void> graphs;
  bool enabled = true;  ///< whether launches may become graphs
  step_launches last;
};

}  // namespace detail
}  // namespace devplace
