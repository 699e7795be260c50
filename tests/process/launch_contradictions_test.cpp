// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/process/launch_environment.hpp>

#include "process/launch_records.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::Equals;
using namespace dp::test;

TEST_CASE("incomplete, wrong or contradictory variables are errors that name the fix", "[process]") {
  const std::string by_hand =
      " Set RANK and WORLD_SIZE for every process, as torchrun does, or unset both to start the program alone.";
  const std::string by_mpirun =
      " Open MPI's mpirun sets these variables for every process; start the program by it again, or unset them to "
      "start without it.";
  const std::string both_ranks =
      " Unset RANK and WORLD_SIZE, which are set by hand or left from another run, or start the program without ";
  const std::string a_port = " Set DEVPLACE_PORT to a free port of rank 0's host, the same for all processes.";
  const struct {
    variables given;
    std::string message;
  } wrong[] = {
      {{"RANK=1"}, "RANK=1 is set, but WORLD_SIZE is not." + by_hand},
      {{"WORLD_SIZE=2"}, "WORLD_SIZE=2 is set, but RANK is not." + by_hand},
      {{"RANK=2", "WORLD_SIZE=2"}, "RANK=2 and WORLD_SIZE=2 contradict each other: ranks are 0 to 1." + by_hand},
      {{"RANK=-1", "WORLD_SIZE=2"}, "RANK=\"-1\" is not a whole number from 0 to 2147483647." + by_hand},
      {{"RANK=one", "WORLD_SIZE=2"}, "RANK=\"one\" is not a whole number from 0 to 2147483647." + by_hand},
      {{"RANK=", "WORLD_SIZE=2"}, "RANK=\"\" is not a whole number from 0 to 2147483647." + by_hand},
      {{"RANK=0", "WORLD_SIZE=0"}, "WORLD_SIZE=\"0\" is not a whole number from 1 to 2147483647." + by_hand},
      {{"RANK=0", "WORLD_SIZE=3000000000"},
       "WORLD_SIZE=\"3000000000\" is not a whole number from 1 to 2147483647." + by_hand},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1"},
       "LOCAL_RANK=1 is set, but LOCAL_WORLD_SIZE is not. Set both: the process's rank on its host, and the number of "
       "processes there."},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2"},
       "LOCAL_RANK=2 and LOCAL_WORLD_SIZE=2 contradict each other: ranks are 0 to 1. Set both: the process's rank on "
       "its host, and the number of processes there."},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=3"},
       "LOCAL_RANK=2 and LOCAL_WORLD_SIZE=3 contradict RANK=1 and WORLD_SIZE=2: no host has more processes than "
       "the job." +
           by_hand},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n1"},
       "RANK=1 and WORLD_SIZE=2, set by hand, do not say which of the processes are on this host. Set LOCAL_RANK and "
       "LOCAL_WORLD_SIZE for each process: its rank on its host, and the number of processes there."},
      {{"PMI_RANK=1", "PMI_SIZE=2"},
       "PMI_RANK=1 and PMI_SIZE=2, set by MPICH's mpirun, do not say which of the processes are on this host. Set "
       "LOCAL_RANK and LOCAL_WORLD_SIZE for each process: its rank on its host, and the number of processes there."},
      {{"RANK=0", "WORLD_SIZE=2", "MASTER_PORT=70000"},
       "MASTER_PORT=\"70000\" is not a whole number from 1 to 65534." + a_port},
      {{"RANK=0", "WORLD_SIZE=2", "MASTER_PORT=65535"},
       "MASTER_PORT=\"65535\" is not a whole number from 1 to 65534." + a_port},
      {{"RANK=0", "WORLD_SIZE=2", "DEVPLACE_PORT=0"},
       "DEVPLACE_PORT=\"0\" is not a whole number from 1 to 65535." + a_port},
      {variables{"RANK=x"} + torchrun,
       "RANK=\"x\" is not a whole number from 0 to 2147483647. torchrun sets these variables for every process; start "
       "the program by it again, or unset them to start without it."},
      {{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"},
       "OMPI_COMM_WORLD_RANK=4 and OMPI_COMM_WORLD_SIZE=4 contradict each other: ranks are 0 to 3." + by_mpirun},
      {{"OMPI_COMM_WORLD_SIZE=4"}, "OMPI_COMM_WORLD_SIZE=4 is set, but OMPI_COMM_WORLD_RANK is not." + by_mpirun},
      {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4", "RANK=1", "WORLD_SIZE=2"},
       "OMPI_COMM_WORLD_RANK=0 and OMPI_COMM_WORLD_SIZE=4, set by Open MPI's mpirun, contradict RANK=1 and "
       "WORLD_SIZE=2." +
           both_ranks + "Open MPI's mpirun."},
      {mpich + variables{"WORLD_SIZE=4"},
       "PMI_RANK=1 and PMI_SIZE=2, set by MPICH's mpirun, contradict WORLD_SIZE=4." + both_ranks + "MPICH's mpirun."},
      {mpich + variables{"RANK=5", "WORLD_SIZE=8"},
       "PMI_RANK=1 and PMI_SIZE=2, set by MPICH's mpirun, contradict RANK=5 and WORLD_SIZE=8." + both_ranks +
           "MPICH's mpirun."},
      {srun + variables{"RANK=0"},
       "SLURM_PROCID=2 and SLURM_STEP_NUM_TASKS=5, set by Slurm's srun, contradict RANK=0." + both_ranks +
           "Slurm's srun."},
      {srun + variables{"RANK=0", "WORLD_SIZE=1"},
       "SLURM_PROCID=2 and SLURM_STEP_NUM_TASKS=5, set by Slurm's srun, contradict RANK=0 and WORLD_SIZE=1." +
           both_ranks + "Slurm's srun."},
      {open_mpi_4 + variables{"PMI_RANK=1", "PMI_SIZE=3"},
       "OMPI_COMM_WORLD_RANK=1 and OMPI_COMM_WORLD_SIZE=2, set by Open MPI's mpirun, contradict PMI_RANK=1 and "
       "PMI_SIZE=3. Start the program by one mpirun, or unset the variables of the other."},
      {variables{"SLURM_STEP_TASKS_PER_NODE=3"} + srun,
       "SLURM_STEP_TASKS_PER_NODE=\"3\" has no task SLURM_LOCALID=0 on node SLURM_NODEID=1. Slurm's srun sets these "
       "variables for every process; start the program by it again, or unset them to start without it."},
      {variables{"SLURM_LOCALID=1"} + srun,
       "SLURM_STEP_TASKS_PER_NODE=\"3,1(x2)\" has no task SLURM_LOCALID=1 on node SLURM_NODEID=1. Slurm's srun sets "
       "these variables for every process; start the program by it again, or unset them to start without it."},
      {{"PMIX_RANK=1", "PMIX_NAMESPACE=prterun-vm-973@1", "PRTE_LAUNCHED=1"},
       "PMIX_RANK=1 was set by a launcher that does not say how many processes there are. Use mpirun or srun, set "
       "RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE for each process, or unset PMIX_RANK to start the program "
       "alone."},
  };
  for (const auto& [given, message] : wrong) {
    INFO(message);
    CHECK_THROWS_AS(read_launch(given), dp::argument_error);
    CHECK_THROWS_WITH(read_launch(given), Equals("devplace: launch_environment: " + message));
  }
}
