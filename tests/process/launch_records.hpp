// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The variables that launchers set, for the tests of launch_environment.

#include <cstddef>
#include <cstring>
#include <vector>

#include <devplace/process/launch_environment.hpp>

namespace devplace::test {

/// Variables as `env` prints them, NAME=value.
struct variables : std::vector<const char*> {
  using vector::vector;
};

inline launch_environment read_launch(const variables& given) {
  return launch_environment::read([&given](const char* name) -> const char* {
    const std::size_t length = std::strlen(name);
    for (const char* one : given)
      if (std::strncmp(one, name, length) == 0 && one[length] == '=') return one + length + 1;
    return nullptr;
  });
}

inline variables operator+(variables some, const variables& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

// Recorded from the second of two processes on one host; variables unrelated to ranks are left out.
inline const variables open_mpi_4 = {
    "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_NODE_RANK=1",
    "OMPI_COMM_WORLD_RANK=1",       "OMPI_COMM_WORLD_SIZE=2",       "OMPI_MCA_ess_base_jobid=648871937",
    "OMPI_UNIVERSE_SIZE=2",         "PMIX_NAMESPACE=648871937",     "PMIX_RANK=1"};
inline const variables open_mpi_5 = {"OMPI_COMM_WORLD_LOCAL_RANK=1",
                                     "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                                     "OMPI_COMM_WORLD_NODE_RANK=1",
                                     "OMPI_COMM_WORLD_RANK=1",
                                     "OMPI_COMM_WORLD_SIZE=2",
                                     "OMPI_VERSION=5.0.11",
                                     "OMPI_WORLD_SIZE=2",
                                     "PMIX_NAMESPACE=prterun-vm-28267@1",
                                     "PMIX_RANK=1",
                                     "PRTE_LAUNCHED=1"};
inline const variables mpich = {"HYDI_CONTROL_FD=7", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1",
                                "PMI_FD=8",          "PMI_RANK=1",        "PMI_SIZE=2"};

/// `srun -n 5 -N 3`, of which this task is the second node's only one.
inline const variables srun = {"SLURM_JOB_ID=1",
                               "SLURM_JOB_NODELIST=node[1-3]",
                               "SLURM_LOCALID=0",
                               "SLURM_NODEID=1",
                               "SLURM_NTASKS=5",
                               "SLURM_PROCID=2",
                               "SLURM_STEP_ID=0",
                               "SLURM_STEP_NODELIST=node[1-3]",
                               "SLURM_STEP_NUM_TASKS=5",
                               "SLURM_STEP_TASKS_PER_NODE=3,1(x2)",
                               "SLURM_TASKS_PER_NODE=3,1(x2)"};
/// A script of `sbatch -n 4 -N 2`; salloc's shell has the same without SLURM_LOCALID, SLURM_NODEID and SLURM_PROCID.
inline const variables sbatch = {
    "SLURM_JOB_ID=2", "SLURM_JOB_NODELIST=node[1-2]", "SLURM_LOCALID=0", "SLURM_NODEID=0", "SLURM_NTASKS=4",
    "SLURM_PROCID=0", "SLURM_TASKS_PER_NODE=2(x2)"};
/// `srun --mpi=pmi2` in that script.
inline const variables srun_pmi2 = {"PMI_FD=13",
                                    "PMI_JOBID=2.3",
                                    "PMI_RANK=3",
                                    "PMI_SIZE=4",
                                    "SLURM_JOB_ID=2",
                                    "SLURM_LOCALID=1",
                                    "SLURM_NODEID=1",
                                    "SLURM_NTASKS=4",
                                    "SLURM_PROCID=3",
                                    "SLURM_STEP_ID=3",
                                    "SLURM_STEP_NODELIST=node[1-2]",
                                    "SLURM_STEP_NUM_TASKS=4",
                                    "SLURM_STEP_TASKS_PER_NODE=2(x2)"};
/// The variables that processes inherit from the helpers that mpirun starts by srun, one per host.
inline const variables helper_of_mpirun = {"SLURM_JOB_ID=2",
                                           "SLURM_LOCALID=0",
                                           "SLURM_NODEID=1",
                                           "SLURM_NTASKS=2",
                                           "SLURM_PROCID=1",
                                           "SLURM_STEP_ID=0",
                                           "SLURM_STEP_NODELIST=node[1-2]",
                                           "SLURM_STEP_NUM_TASKS=2",
                                           "SLURM_STEP_TASKS_PER_NODE=1(x2)"};
inline const variables open_mpi_in_slurm = {"OMPI_COMM_WORLD_LOCAL_RANK=1",
                                            "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                                            "OMPI_COMM_WORLD_NODE_RANK=1",
                                            "OMPI_COMM_WORLD_RANK=3",
                                            "OMPI_COMM_WORLD_SIZE=4",
                                            "PMIX_NAMESPACE=1733033985",
                                            "PMIX_RANK=3"};
inline const variables mpich_in_slurm = {"MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1", "PMI_FD=6", "PMI_RANK=3",
                                         "PMI_SIZE=4"};

// --nnodes 2 --nproc-per-node 2: the second node's second worker after one failure; the first node counts 0 restarts.
// Recorded on one host, with the address replaced.
inline const variables torchrun = {"RANK=3",
                                   "GROUP_RANK=1",
                                   "ROLE_RANK=3",
                                   "ROLE_NAME=default",
                                   "LOCAL_RANK=1",
                                   "LOCAL_WORLD_SIZE=2",
                                   "WORLD_SIZE=4",
                                   "GROUP_WORLD_SIZE=2",
                                   "ROLE_WORLD_SIZE=4",
                                   "MASTER_ADDR=n1",
                                   "MASTER_PORT=34501",
                                   "TORCHELASTIC_RESTART_COUNT=1",
                                   "TORCHELASTIC_MAX_RESTARTS=2",
                                   "TORCHELASTIC_RUN_ID=4711",
                                   "TORCHELASTIC_USE_AGENT_STORE=True"};
/// --standalone --nproc-per-node 2 --virtual-local-rank.
inline const variables torchrun_virtual = {"RANK=1",
                                           "GROUP_RANK=0",
                                           "LOCAL_RANK=0",
                                           "LOCAL_WORLD_SIZE=2",
                                           "WORLD_SIZE=2",
                                           "GROUP_WORLD_SIZE=1",
                                           "MASTER_ADDR=localhost",
                                           "MASTER_PORT=43417",
                                           "TORCHELASTIC_RESTART_COUNT=0",
                                           "TORCHELASTIC_RUN_ID=4bc6357f",
                                           "TORCHELASTIC_USE_AGENT_STORE=True",
                                           "CUDA_VISIBLE_DEVICES=1"};

}  // namespace devplace::test
