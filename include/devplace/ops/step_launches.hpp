// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>

namespace devplace {

/// How the work of a trainer's last step was launched on GPUs.
struct step_launches {
  std::size_t graphs = 0;                   ///< launches of graphs
  std::size_t in_graphs = 0;                ///< kernels, products and copies in these graphs
  std::size_t single = 0;                   ///< kernels, products and copies launched one by one
  const char* interrupted_after = nullptr;  ///< the kernel after which the first graph had to end early; null: none
};

namespace detail {

/// What a backend keeps of a trainer's launches for later steps. Has one layout in all files of a program: those
/// without kernels do not know what a GPU keeps.
struct launch_memory {
  std::shared_ptr<void> kept;
  bool enabled = true;  ///< whether launches may become graphs
  step_launches last;
};

}  // namespace detail
}  // namespace devplace
