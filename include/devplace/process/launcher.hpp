// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace devplace {

/// The programs that can have started a process; launch_environment detects them.
enum class launcher : unsigned char {
  none,      ///< a shell, a batch script or a debugger: a single process
  by_hand,   ///< RANK and WORLD_SIZE without torchrun: a script, or another launcher for PyTorch
  torchrun,  ///< also `python -m torch.distributed.run`
  open_mpi,  ///< mpirun of Open MPI
  mpich,     ///< mpirun of MPICH or Intel MPI, or another launcher with PMI
  slurm      ///< srun
};

/// The text after "started by" in messages: `torchrun`, `Open MPI's mpirun`, ...
inline std::string launcher_name(launcher by) {
  constexpr const char* names[] = {"no launcher",       "hand",           "torchrun",
                                   "Open MPI's mpirun", "MPICH's mpirun", "Slurm's srun"};
  return names[static_cast<std::size_t>(by)];
}

}  // namespace devplace
