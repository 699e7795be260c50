// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <devplace/base/joined.hpp>
#include <devplace/process/detail/launch_variables.hpp>
#include <devplace/process/detail/read_launch.hpp>
#include <devplace/process/launcher.hpp>

namespace devplace {

/// This process's launcher and rank, read from the environment variables of mpirun, srun or torchrun; rank 0 of 1 if
/// there are none. Only reads variables: sets and connects nothing.
///
/// If variables of several launchers are set, the innermost launcher counts: torchrun, then mpirun, then srun, because
/// srun starts the helpers of torchrun and mpirun on each host. RANK and WORLD_SIZE that torchrun has not set must
/// equal those of mpirun or srun, unless each task of srun starts several processes. Throws argument_error for
/// variables that are incomplete, out of range or contradict each other.
class launch_environment {
 public:
  /// Reads this process's variables by std::getenv.
  static launch_environment of_process() {
    return launch_environment(parallel::detail::read_launch(parallel::detail::launch_variables()));
  }

  /// Reads other variables: `lookup(name)` is a C string, null if the variable is not set.
  template <class Lookup> static launch_environment read(const Lookup& lookup) {
    return launch_environment(parallel::detail::read_launch(parallel::detail::launch_variables(std::ref(lookup))));
  }

  /// The launcher of the process.
  launcher started_by() const { return values_.process.started_by; }

  /// The process's number, from 0, and the number of processes.
  ///@{
  int rank() const { return values_.process.world.rank; }
  int size() const { return values_.process.world.size; }
  ///@}
  /// The process's rank among the processes of this host, and the number of these processes. No two of them have the
  /// same local rank, even with torchrun's --virtual-local-rank, where each process sees a single GPU with number 0.
  ///@{
  int local_rank() const { return values_.local.rank; }
  int local_size() const { return values_.local.size; }
  ///@}
  /// The number of this host among the job's hosts, from 0; empty for Open MPI and MPICH, which do not set this number.
  std::optional<int> node() const { return values_.process.node; }

  /// The name or address of rank 0's host: MASTER_ADDR, 127.0.0.1 if all processes are on one host, or the first host
  /// of srun's list. Empty if unknown.
  const std::string& main_address() const { return values_.main_address; }
  /// The port on rank 0's host for the rendezvous: DEVPLACE_PORT, or MASTER_PORT + 1 (torchrun itself listens on
  /// MASTER_PORT), or one from 20000 to 29999 derived from `job`. 0 for a single process.
  int port() const { return values_.port; }

  /// Identifies the job and, if the launcher counts restarts, the restart. MPICH does not number its jobs.
  const std::string& job() const { return values_.process.job; }

  /// A sentence about the values and the variables they come from, for logs and messages.
  std::string describe() const {
    const auto& [process, local, local_origin, address, address_origin, port, port_origin, inside] = values_;
    const auto describe_position = [](const parallel::detail::position& p) {
      return detail::joined({p.rank, " of ", p.size});
    };
    std::string text =
        detail::joined({"rank ", describe_position(process.world), ", started by ", launcher_name(process.started_by)});
    if (process.started_by != launcher::none) text += detail::joined({" (", process.world.names(), ")"});
    if (!inside.empty()) text += " " + inside;
    if (process.started_by == launcher::none)
      return text + (inside.empty() ? ": none of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_STEP_ID is set"
                                    : ": there is no SLURM_STEP_ID; srun starts all tasks of a job");
    text += detail::joined({"; local rank ", describe_position(local), " (", local_origin, ")"});
    if (process.node) text += detail::joined({" on node ", *process.node});
    text += address.empty() ? "; rank 0's host is not known (MASTER_ADDR is not set)"
                            : detail::joined({"; rank 0 is at ", address, " (", address_origin, ")"});
    return detail::joined({text, ", port ", port, " (", port_origin, ")"});
  }

 private:
  explicit launch_environment(parallel::detail::launch_values values) : values_(std::move(values)) {}

  parallel::detail::launch_values values_;
};

}  // namespace devplace
