// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <devplace/parallel/bind_devices.hpp>
#include <devplace/parallel/control_plane.hpp>
#include <devplace/parallel/detail/control_transport.hpp>
#include <devplace/parallel/launch_environment.hpp>
#include <devplace/parallel/process_group.hpp>
#include <devplace/parallel/process_options.hpp>
#include <devplace/parallel/shared_memory.hpp>

namespace devplace {

namespace parallel::detail {

/// Equal in processes of one host: its number among the job's hosts, or its name.
inline std::int64_t host_of(const launch_environment& launched) {
  if (const auto node = launched.node()) return *node;
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return static_cast<std::int64_t>(control_token(name).halves[0] | std::uint64_t{1} << 63);
}

inline control_endpoint endpoint_of(const launch_environment& launched) {
  if (launched.local_size() == launched.size()) return {};
  if (launched.main_address().empty())
    throw communication_error("launched_processes: the " + std::to_string(launched.size()) +
                              " processes of the job are on several hosts, and which one process 0 is on is not known. "
                              "Set MASTER_ADDR, or connect the processes by MPI: <devplace/parallel/mpi.hpp>. This "
                              "process is " +
                              launched.describe() + ".");
  return {launched.main_address(), launched.port()};
}

}  // namespace parallel::detail

/// The processes that torchrun, mpirun or srun started, connected and watched: what init_process_group is elsewhere.
/// This process alone if no launcher started it, or only one process. All processes of the job call it, once they have
/// nothing else to do; they wait for each other. Then each has its share of its host's GPUs, by bind_devices.
///
/// On one host they share memory. On several hosts they meet at launch_environment::port() of the host of process 0,
/// and only small values go through that connection: tensors are reduced between GPUs by collective::nccl, which the
/// group connects, and between CPUs by MPI instead of this function.
///
/// Throws argument_error if the launcher's variables contradict each other, and communication_error if the processes do
/// not come in time, do not fit together, or are on several hosts without a known address.
inline process_group launched_processes(const process_options& options = {}) {
  const launch_environment launched = launch_environment::of_process();
  if (launched.size() == 1) return process_group();
  const parallel::job_member who{launched.job() + " port " + std::to_string(launched.port()), launched.rank(),
                                 launched.size(), launched.describe()};
  const parallel::control_endpoint where = parallel::detail::endpoint_of(launched);
  const parallel::process_ranks ranks{launched.rank(), launched.size(), launched.local_rank(), launched.local_size()};
  const auto plane = std::make_shared<parallel::control_plane>(who, where, options);
  const auto exchange = [&](const void* own, std::size_t bytes, void* all) { plane->all_gather(own, bytes, all); };
  std::shared_ptr<parallel::transport> via;
  if (where.address.empty())
    via = parallel::shared_memory_transport::connect(ranks, exchange, plane);
  else
    via = std::make_shared<parallel::detail::control_transport>(ranks, parallel::detail::host_of(launched), plane);
  process_group connected(std::move(via));
  bind_devices(connected);
  return connected;
}

}  // namespace devplace
