// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace devplace {

/// What can have started a process, as launch_environment finds it.
enum class launcher : unsigned char {
  none,      ///< a shell, a batch script, a debugger: one process alone
  by_hand,   ///< RANK and WORLD_SIZE without torchrun: a script, or another launcher for PyTorch
  torchrun,  ///< also its older name, `python -m torch.distributed.run`
  open_mpi,  ///< mpirun of Open MPI
  mpich,     ///< mpirun of MPICH, of Intel MPI, and other launchers with PMI
  slurm      ///< srun
};

/// `torchrun`, `Open MPI's mpirun`, ...: what follows "started by" in messages.
inline std::string launcher_name(launcher by) {
  switch (by) {
    case launcher::none:
      break;
    case launcher::by_hand:
      return "hand";
    case launcher::torchrun:
      return "torchrun";
    case launcher::open_mpi:
      return "Open MPI's mpirun";
    case launcher::mpich:
      return "MPICH's mpirun";
    case launcher::slurm:
      return "Slurm's srun";
  }
  return "no launcher";
}

}  // namespace devplace
