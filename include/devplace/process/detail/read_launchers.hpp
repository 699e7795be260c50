// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include <devplace/base/error.hpp>
#include <devplace/process/detail/launch_variables.hpp>
#include <devplace/process/detail/slurm_lists.hpp>
#include <devplace/process/launcher.hpp>

namespace devplace::parallel::detail {

/// The values of one launcher's variables.
struct launched {
  launcher started_by = launcher::none;
  position world = {"", ""};
  std::optional<position> local = std::nullopt;  ///< position on its host
  std::optional<int> node = std::nullopt;
  std::string job = {};
};

/// The end of messages about wrong variables of a launcher.
inline std::string launcher_fix(launcher by) {
  if (by == launcher::by_hand)
    return "Set RANK and WORLD_SIZE for every process, as torchrun does, or unset both to start the program alone.";
  return launcher_name(by) +
         " sets these variables for every process; start the program by it again, or unset them to start without it.";
}

/// Reads the variables of torchrun's workers. A worker whose RANK and WORLD_SIZE were unset runs alone.
inline std::optional<launched> read_torchrun(const launch_variables& variables) {
  if (!variables.has("TORCHELASTIC_RUN_ID")) return std::nullopt;
  const std::string fix = launcher_fix(launcher::torchrun);
  const auto world = read_position(variables, "RANK", "WORLD_SIZE", fix);
  if (!world) return std::nullopt;
  launched found{launcher::torchrun, *world};
  found.local = read_position(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE", fix);
  found.node = variables.number("GROUP_RANK", fix);
  const int nodes = variables.number("GROUP_WORLD_SIZE", fix, 1).value_or(0);
  // With --virtual-local-rank LOCAL_RANK is 0 in every process. Ranks ascend from node to node.
  if (found.local && found.node && found.local->rank == 0 && nodes * found.local->size == world->size)
    found.local->rank = world->rank % found.local->size;
  found.job = "torchrun " + variables.text("TORCHELASTIC_RUN_ID");
  // The agent of a node does not count the restarts that other nodes caused.
  if (nodes == 1) found.job += " restart " + variables.text("TORCHELASTIC_RESTART_COUNT");
  return found;
}

inline std::optional<launched> read_open_mpi(const launch_variables& variables) {
  const std::string fix = launcher_fix(launcher::open_mpi);
  const auto world = read_position(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", fix);
  if (!world) return std::nullopt;
  launched found{launcher::open_mpi, *world};
  found.local = read_position(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", fix);
  // OMPI_COMM_WORLD_NODE_RANK is not the node's number, but another rank on the node.
  found.job =
      "Open MPI " + variables.text(variables.has("PMIX_NAMESPACE") ? "PMIX_NAMESPACE" : "OMPI_MCA_ess_base_jobid");
  return found;
}

/// Reads the variables of a step of srun. Returns nothing outside a step, where sbatch and salloc set SLURM_NTASKS, and
/// sbatch also sets SLURM_PROCID.
inline std::optional<launched> read_slurm(const launch_variables& variables) {
  const bool counted = variables.has("SLURM_STEP_NUM_TASKS");
  if (!counted && !variables.has("SLURM_STEP_ID")) return std::nullopt;
  const std::string fix = launcher_fix(launcher::slurm);
  const auto world = read_position(variables, "SLURM_PROCID", counted ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", fix);
  if (!world) return std::nullopt;
  launched found{launcher::slurm, *world};
  found.node = variables.number("SLURM_NODEID", fix);
  const auto local = variables.number("SLURM_LOCALID", fix);
  if (local && found.node && variables.has("SLURM_STEP_TASKS_PER_NODE")) {
    const std::string tasks = variables.text("SLURM_STEP_TASKS_PER_NODE");
    const int here = slurm_tasks_on_node(tasks, *found.node);
    if (here <= *local)
      throw argument_error({"launch_environment: SLURM_STEP_TASKS_PER_NODE=\"", tasks,
                            "\" has no task SLURM_LOCALID=", *local, " on node SLURM_NODEID=", *found.node, ". ", fix});
    found.local = position{"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", *local, here};
  }
  found.job =
      devplace::detail::joined({"Slurm ", variables.text("SLURM_JOB_ID"), ".", variables.text("SLURM_STEP_ID")});
  if (variables.has("SLURM_RESTART_COUNT")) found.job += " restart " + variables.text("SLURM_RESTART_COUNT");
  return found;
}

/// Reads the variables of Hydra, the mpirun of MPICH and Intel MPI, and of other launchers with PMI.
inline std::optional<launched> read_mpich(const launch_variables& variables, const std::optional<launched>& slurm) {
  const std::string fix = launcher_fix(launcher::mpich);
  const auto world = read_position(variables, "PMI_RANK", "PMI_SIZE", fix);
  if (!world) return std::nullopt;
  launched found{launcher::mpich, *world};
  found.local = read_position(variables, "MPI_LOCALRANKID", "MPI_LOCALNRANKS", fix);
  // srun --mpi=pmi2 sets PMI_RANK too.
  if (slurm && !found.local && slurm->world.rank == world->rank && slurm->world.size == world->size)
    return std::nullopt;
  if (!found.local) found.local = read_position(variables, "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", fix);
  // Hydra does not number its jobs.
  found.job = "MPICH";
  if (variables.has("SLURM_JOB_ID")) found.job += " in Slurm " + variables.text("SLURM_JOB_ID");
  return found;
}

}  // namespace devplace::parallel::detail
