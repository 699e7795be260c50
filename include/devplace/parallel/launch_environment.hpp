// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <devplace/parallel/detail/launch_variables.hpp>
#include <devplace/parallel/detail/read_launch.hpp>
#include <devplace/parallel/launcher.hpp>

namespace devplace {

/// How this process was started, and which of the processes it is, by the environment variables of mpirun, srun or
/// torchrun; rank 0 of 1 without any of them. A value: it is read once, and nothing is set or connected.
///
/// If variables of several launchers are there, the innermost one counts: torchrun, then mpirun, then srun, because
/// srun starts the helpers of both on each host. RANK and WORLD_SIZE without torchrun must say what mpirun or srun
/// says, unless each task of srun starts several processes. Variables that are incomplete, out of range or contradict
/// each other throw argument_error.
class launch_environment {
 public:
  /// Of this process's variables, by std::getenv.
  static launch_environment of_process() {
    return read([](const char* name) -> const char* { return std::getenv(name); });
  }

  /// Of other variables: `lookup(name)` is a C string, null if the variable is not set.
  template <class Lookup>
  static launch_environment read(const Lookup& lookup) {
    return launch_environment(parallel::detail::read_launch(parallel::detail::launch_variables(lookup)));
  }

  /// What started the process.
  launcher started_by() const { return values_.by.by; }

  /// The process's number, from 0, and the number of processes.
  ///@{
  int rank() const { return values_.by.world.rank; }
  int size() const { return values_.by.world.size; }
  ///@}
  /// The same among the processes of this host. Also with torchrun's --virtual-local-rank each process has its own
  /// number; it then sees a single GPU, whose number is 0.
  ///@{
  int local_rank() const { return values_.local.rank; }
  int local_size() const { return values_.local.size; }
  ///@}
  /// The number of this host among the job's hosts, from 0, if the launcher says so: Open MPI and MPICH do not.
  std::optional<int> node() const { return values_.by.node; }

  /// The name or address of rank 0's host: MASTER_ADDR, 127.0.0.1 if all processes are on one host, or the first host
  /// of srun's list. Empty if it is not known.
  const std::string& main_address() const { return values_.main_address; }
  /// The port on rank 0's host at which devplace's processes find each other: DEVPLACE_PORT, or MASTER_PORT + 1
  /// (torchrun itself listens on MASTER_PORT), or one from 20000 to 29999 that follows from `job`. 0 for a process
  /// alone.
  int port() const { return values_.port; }

  /// Equal in all processes of a job, and different in other jobs and, where the launcher counts them, after a restart.
  /// MPICH does not number its jobs.
  const std::string& job() const { return values_.by.job; }

  /// A sentence about what was found in which variables, for logs and messages.
  std::string describe() const {
    const auto& [by, local, local_origin, address, address_origin, port, port_origin, inside] = values_;
    const auto of = [](const parallel::detail::position& p) {
      return std::to_string(p.rank) + " of " + std::to_string(p.size);
    };
    std::string text = "rank " + of(by.world) + ", started by " + launcher_name(by.by);
    if (by.by != launcher::none) text += " (" + by.world.names() + ")";
    if (!inside.empty()) text += " " + inside;
    if (by.by == launcher::none)
      return text + (inside.empty() ? ": none of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_STEP_ID is set"
                                    : ": there is no SLURM_STEP_ID; srun starts all tasks of a job");
    text += "; local rank " + of(local) + " (" + local_origin + ")";
    if (by.node) text += " on node " + std::to_string(*by.node);
    text += address.empty() ? "; rank 0's host is not known (MASTER_ADDR is not set)"
                            : "; rank 0 is at " + address + " (" + address_origin + ")";
    return text + ", port " + std::to_string(port) + " (" + port_origin + ")";
  }

 private:
  explicit launch_environment(parallel::detail::launch_values values) : values_(std::move(values)) {}

  parallel::detail::launch_values values_;
};

}  // namespace devplace
