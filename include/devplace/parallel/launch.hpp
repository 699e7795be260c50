// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <devplace/parallel/bind_devices.hpp>
#include <devplace/parallel/control_plane.hpp>
#include <devplace/parallel/launch_environment.hpp>
#include <devplace/parallel/process_group.hpp>
#include <devplace/parallel/process_options.hpp>
#include <devplace/parallel/shared_memory.hpp>

namespace devplace {

/// The processes that torchrun, mpirun or srun started on this host, connected by shared memory and watched: what
/// init_process_group is elsewhere. This process alone if no launcher started it, or only one process. All processes of
/// the job call it, once they have nothing else to do; they wait for each other. Then each has its share of the GPUs,
/// by bind_devices.
///
/// Throws argument_error if the launcher's variables contradict each other, and communication_error if the processes do
/// not come in time, do not fit together, or are on several hosts, which MPI connects.
inline process_group launched_processes(const process_options& options = {}) {
  const launch_environment launched = launch_environment::of_process();
  if (launched.size() == 1) return process_group();
  if (launched.local_size() != launched.size())
    throw communication_error("launched_processes: the " + std::to_string(launched.size()) +
                              " processes of the job are on several hosts, " + std::to_string(launched.local_size()) +
                              " of them on this one. Processes of several hosts are connected by MPI: start them by "
                              "mpirun or srun and make their group by <devplace/parallel/mpi.hpp>. This process is " +
                              launched.describe() + ".");
  const parallel::job_member who{launched.job() + " port " + std::to_string(launched.port()), launched.rank(),
                                 launched.size(), launched.describe()};
  const auto plane = std::make_shared<parallel::control_plane>(who, parallel::control_endpoint{}, options);
  const auto exchange = [&](const void* own, std::size_t bytes, void* all) { plane->all_gather(own, bytes, all); };
  process_group connected(parallel::shared_memory_transport::connect(
      {launched.rank(), launched.size(), launched.local_rank(), launched.local_size()}, exchange, plane));
  bind_devices(connected);
  return connected;
}

}  // namespace devplace
