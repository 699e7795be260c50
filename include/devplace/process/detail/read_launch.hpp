// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/process/detail/launch_variables.hpp>
#include <devplace/process/detail/read_launchers.hpp>
#include <devplace/process/detail/slurm_lists.hpp>
#include <devplace/process/launcher.hpp>

namespace devplace::parallel::detail {

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
  if (rank) set_variables = devplace::detail::joined({"RANK=", *rank});
  if (size) set_variables += (rank ? " and WORLD_SIZE=" : "WORLD_SIZE=") + std::to_string(*size);
  throw_contradiction(
      outer, set_variables,
      devplace::detail::joined(
          {"Unset RANK and WORLD_SIZE, which are set by hand or left from another run, or start the program without ",
           launcher_name(outer.started_by), "."}));
}

/// The innermost launcher: torchrun, which overwrites all its variables; mpirun, which starts helpers by srun; or srun.
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
