// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/process/detail/launch_variables.hpp>
#include <devplace/process/launcher.hpp>

namespace devplace::parallel::detail {

/// The first host of one of Slurm's lists: `node01` of `node[01-03,7],other`; empty if there is none.
inline std::string first_slurm_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      host += list.front();
      list.remove_prefix(1);
      continue;
    }
    const std::size_t end = list.find(']');
    const std::string_view ranges = list.substr(1, end == std::string_view::npos ? end : end - 1);
    host += ranges.substr(0, ranges.find_first_of(",-"));
    if (end == std::string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
  return host;
}

/// The number of tasks on node `node` of a list: `2(x3),1` is 2, 2, 2, 1; -1 if the list does not have the node.
inline int slurm_tasks_on_node(std::string_view list, int node) {
  for (int first = 0; !list.empty();) {
    const std::string_view entry = list.substr(0, list.find(','));
    const std::size_t times = entry.find("(x");
    int nodes = 1;
    if (times != std::string_view::npos)
      nodes =
          entry.back() == ')' ? devplace::detail::whole_number(entry.substr(times + 2, entry.size() - times - 3)) : -1;
    if (nodes < 1) return -1;
    if (node - first < nodes) return devplace::detail::whole_number(entry.substr(0, times));
    first += nodes;
    list.remove_prefix(entry.size() == list.size() ? list.size() : entry.size() + 1);
  }
  return -1;
}

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
  found.job = joined({"Slurm ", variables.text("SLURM_JOB_ID"), ".", variables.text("SLURM_STEP_ID")});
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

/// The values of launch_environment. The origins name the sources of the values, for describe().
struct launch_values {
  launched process;
  position local = {"", ""};
  std::string local_origin = {};
  std::string main_address = {};
  std::string address_origin = {};
  int port = 0;
  std::string port_origin = {};
  std::string inside = {};
};

[[noreturn]] inline void throw_contradiction(const launched& process, const std::string& others,
                                             const std::string& fix) {
  throw argument_error({"launch_environment: ", process.world.text(), ", set by ", launcher_name(process.started_by),
                        ", contradict ", others, ". ", fix});
}

/// Reads RANK and WORLD_SIZE if they are set in addition to a launcher's variables. A task of srun may start several
/// processes by hand, so that there are more processes than tasks; otherwise the variables must equal the launcher's.
inline std::optional<launched> read_by_hand_inside(const launch_variables& variables, const launched& outer) {
  const std::string fix = launcher_fix(launcher::by_hand);
  const auto rank = variables.number("RANK", fix);
  const auto size = variables.number("WORLD_SIZE", fix, 1);
  if (outer.started_by == launcher::slurm && rank && size && *size > outer.world.size)
    return launched{launcher::by_hand, *read_position(variables, "RANK", "WORLD_SIZE", fix)};
  if (rank.value_or(outer.world.rank) == outer.world.rank && size.value_or(outer.world.size) == outer.world.size)
    return std::nullopt;
  std::string set_variables;
  if (rank) set_variables = joined({"RANK=", *rank});
  if (size) set_variables += (rank ? " and WORLD_SIZE=" : "WORLD_SIZE=") + std::to_string(*size);
  throw_contradiction(
      outer, set_variables,
      joined(
          {"Unset RANK and WORLD_SIZE, which are set by hand or left from another run, or start the program without ",
           launcher_name(outer.started_by), "."}));
}

/// Returns the innermost launcher, if several have set variables. torchrun counts first, because torchrun overwrites
/// the variables of an outer torchrun; mpirun counts before srun, because mpirun may start its own helper processes by
/// srun.
inline launched find_launcher(const launch_variables& variables) {
  if (auto torchrun = read_torchrun(variables)) return *torchrun;
  const auto slurm = read_slurm(variables);
  const auto open_mpi = read_open_mpi(variables);
  const auto mpich = read_mpich(variables, slurm);
  if (open_mpi && mpich && (open_mpi->world.rank != mpich->world.rank || open_mpi->world.size != mpich->world.size))
    throw_contradiction(*open_mpi, mpich->world.text(),
                        "Start the program by one mpirun, or unset the variables of the other.");
  if (const auto& outer = open_mpi ? open_mpi : mpich ? mpich : slurm) {
    const auto by_hand = read_by_hand_inside(variables, *outer);
    return by_hand ? *by_hand : *outer;
  }
  if (auto world = read_position(variables, "RANK", "WORLD_SIZE", launcher_fix(launcher::by_hand)))
    return {launcher::by_hand, *world};
  if (variables.has("PMIX_RANK"))
    throw argument_error({"launch_environment: PMIX_RANK=", variables.text("PMIX_RANK"),
                          " was set by a launcher that does not say how many processes there are. Use mpirun "
                          "or srun, set RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE for each process, or "
                          "unset PMIX_RANK to start the program alone."});
  return {};
}

inline bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

/// Sets this process's position on its host, from the launcher's variables or from LOCAL_RANK and LOCAL_WORLD_SIZE.
/// Without these variables, uses the position among all processes, unless MASTER_ADDR names another host.
inline void find_local_position(const launch_variables& variables, launch_values& found) {
  const position& world = found.process.world;
  if (!found.process.local)
    found.process.local = read_position(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE",
                                        "Set both: the process's rank on its host, and the number of processes there.");
  if (found.process.local) {
    found.local = *found.process.local;
    found.local_origin = found.local.names();
    if (found.local.size > world.size)
      throw argument_error({"launch_environment: ", found.local.text(), " contradict ", world.text(),
                            ": no host has more processes than the job. ", launcher_fix(found.process.started_by)});
  } else if (world.size == 1) {
    found.local_origin = "the only process";
  } else if (found.process.started_by == launcher::by_hand &&
             (!variables.has("MASTER_ADDR") || is_loopback(variables("MASTER_ADDR")))) {
    found.local = world;
    found.local_origin = variables.has("MASTER_ADDR") ? "MASTER_ADDR is this host" : "MASTER_ADDR is not set";
  } else {
    throw argument_error(
        {"launch_environment: ", world.text(), ", set by ", launcher_name(found.process.started_by),
         ", do not say which of the processes are on this host. Set LOCAL_RANK and LOCAL_WORLD_SIZE for each process: "
         "its rank on its host, and the number of processes there."});
  }
  if (!found.process.node && found.local.size == world.size) found.process.node = 0;
}

inline void find_main_address(const launch_variables& variables, launch_values& found) {
  const char* const hosts = variables.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  if (!variables.text("MASTER_ADDR").empty()) {
    found.main_address = variables.text("MASTER_ADDR");
    found.address_origin = "MASTER_ADDR";
  } else if (found.local.size == found.process.world.size) {
    found.main_address = "127.0.0.1";
    found.address_origin = "all are on one host";
  } else if (found.process.started_by == launcher::slurm && variables.has(hosts)) {
    found.main_address = first_slurm_host(variables(hosts));
    found.address_origin = hosts;
  }
}

inline void find_port(const launch_variables& variables, launch_values& found) {
  const std::string fix = "Set DEVPLACE_PORT to a free port of rank 0's host, the same for all processes.";
  if (const auto own = variables.number("DEVPLACE_PORT", fix, 1, 65535)) {
    found.port = *own;
    found.port_origin = "DEVPLACE_PORT";
  } else if (const auto taken = variables.number("MASTER_PORT", fix, 1, 65534)) {
    found.port = *taken + 1;  // torchrun listens on MASTER_PORT itself
    found.port_origin = "MASTER_PORT + 1";
  } else {
    unsigned hash = 2166136261u;  // FNV-1a
    for (const char c : found.process.job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    found.port = 20000 + static_cast<int>(hash % 10000);  // below the ephemeral ports
    found.port_origin = "chosen by the job's name";
  }
}

inline launch_values read_launch(const launch_variables& variables) {
  launch_values found{find_launcher(variables)};
  if (variables.has("SLURM_JOB_ID") && found.process.started_by != launcher::slurm)
    found.inside = "inside Slurm's job " + variables.text("SLURM_JOB_ID");
  if (found.process.started_by == launcher::none) {
    found.process.node = 0;
    return found;
  }
  find_local_position(variables, found);
  find_main_address(variables, found);
  find_port(variables, found);
  return found;
}

}  // namespace devplace::parallel::detail
