// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdlib>
#include <optional>
#include <vector>

#include <devplace/process/launch_environment.hpp>

#include "process/launch_records.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::launch_environment;
using dp::launcher;
using namespace dp::test;

namespace {

struct recorded {
  const char* what;
  variables given;
  launcher by;
  int rank, size, local_rank, local_size;
  std::optional<int> node;
  const char* main_address;
  const char* job;
};

const std::vector<recorded> all_recorded = {
    {"nothing", {}, launcher::none, 0, 1, 0, 1, 0, "", ""},
    {"Open MPI 4", open_mpi_4, launcher::open_mpi, 1, 2, 1, 2, 0, "127.0.0.1", "Open MPI 648871937"},
    {"Open MPI 5", open_mpi_5, launcher::open_mpi, 1, 2, 1, 2, 0, "127.0.0.1", "Open MPI prterun-vm-28267@1"},
    {"MPICH", mpich, launcher::mpich, 1, 2, 1, 2, 0, "127.0.0.1", "MPICH"},
    {"srun", srun, launcher::slurm, 2, 5, 0, 1, 1, "node1", "Slurm 1.0"},
    {"srun --mpi=pmi2", srun_pmi2, launcher::slurm, 3, 4, 1, 2, 1, "node1", "Slurm 2.3"},
    {"srun --mpi=pmix", srun + variables{"PMIX_RANK=2", "PMIX_NAMESPACE=slurm.pmix.1.0"}, launcher::slurm, 2, 5, 0, 1,
     1, "node1", "Slurm 1.0"},
    {"a job that was requeued", srun + variables{"SLURM_RESTART_COUNT=2"}, launcher::slurm, 2, 5, 0, 1, 1, "node1",
     "Slurm 1.0 restart 2"},
    {"sbatch", sbatch, launcher::none, 0, 1, 0, 1, 0, "", ""},
    {"salloc", {"SLURM_JOB_ID=3", "SLURM_NTASKS=4"}, launcher::none, 0, 1, 0, 1, 0, "", ""},
    {"Open MPI in Slurm",
     open_mpi_in_slurm + helper_of_mpirun,
     launcher::open_mpi,
     3,
     4,
     1,
     2,
     {},
     "",
     "Open MPI 1733033985"},
    {"MPICH in Slurm", mpich_in_slurm + helper_of_mpirun, launcher::mpich, 3, 4, 1, 2, {}, "", "MPICH in Slurm 2"},
    {"mpirun by a helper that srun --mpi=pmi2 started",
     open_mpi_in_slurm + helper_of_mpirun + variables{"PMI_RANK=1", "PMI_SIZE=2", "PMI_JOBID=2.0"},
     launcher::open_mpi,
     3,
     4,
     1,
     2,
     {},
     "",
     "Open MPI 1733033985"},
    {"torchrun", torchrun, launcher::torchrun, 3, 4, 1, 2, 1, "n1", "torchrun 4711"},
    {"torchrun --virtual-local-rank", torchrun_virtual, launcher::torchrun, 1, 2, 1, 2, 0, "localhost",
     "torchrun 4bc6357f restart 0"},
    {"the first of two workers on the second node, after three on the first",
     variables{"LOCAL_RANK=0", "WORLD_SIZE=5"} + torchrun, launcher::torchrun, 3, 5, 0, 2, 1, "n1", "torchrun 4711"},
    {"mpirun of MPICH with one process for each helper of Slurm",
     helper_of_mpirun + variables{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"},
     launcher::mpich,
     1,
     2,
     0,
     1,
     {},
     "",
     "MPICH in Slurm 2"},
    {"PMI that is not srun's",
     helper_of_mpirun + variables{"PMI_RANK=0", "PMI_SIZE=2", "PMI_LOCAL_RANK=0", "PMI_LOCAL_SIZE=1"},
     launcher::mpich,
     0,
     2,
     0,
     1,
     {},
     "",
     "MPICH in Slurm 2"},
    {"torchrun by srun", torchrun + helper_of_mpirun, launcher::torchrun, 3, 4, 1, 2, 1, "n1", "torchrun 4711"},
    {"torchrun by mpirun", torchrun + variables{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}, launcher::torchrun,
     3, 4, 1, 2, 1, "n1", "torchrun 4711"},
    {"a worker's child that runs alone",
     {"TORCHELASTIC_RUN_ID=4711", "MASTER_PORT=29500"},
     launcher::none,
     0,
     1,
     0,
     1,
     0,
     "",
     ""},
    {"by hand on one host", {"RANK=1", "WORLD_SIZE=3"}, launcher::by_hand, 1, 3, 1, 3, 0, "127.0.0.1", ""},
    {"by hand, loopback",
     {"RANK=1", "WORLD_SIZE=3", "MASTER_ADDR=localhost"},
     launcher::by_hand,
     1,
     3,
     1,
     3,
     0,
     "localhost",
     ""},
    {"by hand, alone", {"RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=n1"}, launcher::by_hand, 0, 1, 0, 1, 0, "n1", ""},
    {"by hand over hosts",
     {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=n1"},
     launcher::by_hand,
     5,
     8,
     1,
     4,
     {},
     "n1",
     ""},
    {"several by hand in each task of srun",
     helper_of_mpirun + variables{"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=n1"},
     launcher::by_hand,
     5,
     8,
     1,
     4,
     {},
     "n1",
     ""},
    {"srun, and the same by hand", srun + variables{"RANK=2", "WORLD_SIZE=5", "MASTER_ADDR=n9"}, launcher::slurm, 2, 5,
     0, 1, 1, "n9", "Slurm 1.0"},
    {"mpirun and the same size by hand", mpich + variables{"WORLD_SIZE=2"}, launcher::mpich, 1, 2, 1, 2, 0, "127.0.0.1",
     "MPICH"},
    {"two mpirun that agree", open_mpi_4 + mpich, launcher::open_mpi, 1, 2, 1, 2, 0, "127.0.0.1", "Open MPI 648871937"},
    {"PMI of Cray",
     {"PMI_RANK=5", "PMI_SIZE=8", "PMI_LOCAL_RANK=1", "PMI_LOCAL_SIZE=4"},
     launcher::mpich,
     5,
     8,
     1,
     4,
     {},
     "",
     "MPICH"},
    {"PMI without positions on a host",
     {"PMI_RANK=5", "PMI_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4"},
     launcher::mpich,
     5,
     8,
     1,
     4,
     {},
     "",
     "MPICH"},
};

}  // namespace

TEST_CASE("the variables of each launcher are read", "[process]") {
  for (const recorded& one : all_recorded) {
    INFO(one.what);
    const launch_environment found = read_launch(one.given);
    INFO(found.describe());
    CHECK(found.started_by() == one.by);
    CHECK(found.rank() == one.rank);
    CHECK(found.size() == one.size);
    CHECK(found.local_rank() == one.local_rank);
    CHECK(found.local_size() == one.local_size);
    CHECK(found.node() == one.node);
    CHECK(found.main_address() == one.main_address);
    CHECK(found.job() == one.job);
  }
}

TEST_CASE("launch_environment reads this process's variables", "[process]") {
  const auto found = launch_environment::of_process();
  const auto same = launch_environment::read([](const char* name) { return std::getenv(name); });
  CHECK(found.describe() == same.describe());
}

TEST_CASE("the port is DEVPLACE_PORT, or MASTER_PORT + 1, or is derived from the job", "[process]") {
  CHECK(read_launch({}).port() == 0);
  CHECK(read_launch(torchrun).port() == 34502);
  CHECK(read_launch(torchrun + variables{"DEVPLACE_PORT=1234"}).port() == 1234);
  CHECK(read_launch(srun + variables{"DEVPLACE_PORT=65535", "MASTER_PORT=65535"}).port() == 65535);
  const int of_job = read_launch(srun).port();
  CHECK(of_job >= 20000);
  CHECK(of_job < 30000);
  CHECK(read_launch(variables{"SLURM_PROCID=3"} + srun).port() == of_job);         // another rank
  CHECK_FALSE(read_launch(variables{"SLURM_STEP_ID=1"} + srun).port() == of_job);  // another step
}

TEST_CASE("a torchrun restart is part of the job's name if all nodes count it", "[process]") {
  // A node's agent that only follows a restart of another node counts fewer restarts.
  CHECK(read_launch(variables{"TORCHELASTIC_RESTART_COUNT=0"} + torchrun).job() == read_launch(torchrun).job());
  CHECK_FALSE(read_launch(variables{"TORCHELASTIC_RESTART_COUNT=1"} + torchrun_virtual).job() ==
              read_launch(torchrun_virtual).job());
}

TEST_CASE("describe() lists the values found and their variables", "[process]") {
  CHECK(read_launch({}).describe() ==
        "rank 0 of 1, started by no launcher: none of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_STEP_ID is set");
  CHECK(read_launch(sbatch).describe() ==
        "rank 0 of 1, started by no launcher inside Slurm's job 2: there is no SLURM_STEP_ID; srun starts all tasks of "
        "a job");
  CHECK(read_launch(torchrun).describe() ==
        "rank 3 of 4, started by torchrun (RANK, WORLD_SIZE); local rank 1 of 2 (LOCAL_RANK, LOCAL_WORLD_SIZE) on node "
        "1; rank 0 is at n1 (MASTER_ADDR), port 34502 (MASTER_PORT + 1)");
  CHECK(read_launch(srun + variables{"DEVPLACE_PORT=1234"}).describe() ==
        "rank 2 of 5, started by Slurm's srun (SLURM_PROCID, SLURM_STEP_NUM_TASKS); local rank 0 of 1 (SLURM_LOCALID, "
        "SLURM_STEP_TASKS_PER_NODE) on node 1; rank 0 is at node1 (SLURM_STEP_NODELIST), port 1234 (DEVPLACE_PORT)");
  CHECK_THAT(read_launch(open_mpi_in_slurm + helper_of_mpirun).describe(),
             ContainsSubstring("started by Open MPI's mpirun (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) inside "
                               "Slurm's job 2; local rank 1 of 2 (OMPI_COMM_WORLD_LOCAL_RANK, "
                               "OMPI_COMM_WORLD_LOCAL_SIZE); rank 0's host is not known (MASTER_ADDR is not set), "
                               "port 2") &&
                 ContainsSubstring(" (chosen by the job's name)"));
  CHECK_THAT(read_launch({"RANK=1", "WORLD_SIZE=3"}).describe(),
             ContainsSubstring("started by hand (RANK, WORLD_SIZE); local rank 1 of 3 (MASTER_ADDR is not set) on node "
                               "0; rank 0 is at 127.0.0.1 (all are on one host)"));
  CHECK_THAT(read_launch({"PMI_RANK=0", "PMI_SIZE=1"}).describe(),
             ContainsSubstring("started by MPICH's mpirun (PMI_RANK, PMI_SIZE); local rank 0 of 1 (the only process)"));
}
