// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/parallel/process_group.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace {

/// Gives each process of a host its share of the GPUs that it sees: with as many as processes or more, cuda<0> and
/// those after it are the next v / n of v GPUs for n processes, in the order of their local ranks; with fewer, cuda<0>
/// is GPU local_rank % v, and a single visible one is every process's cuda<0>. `launched_processes` and `mpi_session`
/// call it; a program that makes its group otherwise does so at the beginning of main, with the group of all processes.
/// list_devices() and device_map_description() show the result.
///
/// Without effect if a map is given by DEVPLACE_DEVICE_MAP or set_device_map, if cuda places have been used already,
/// and on simulated devices, of which each process has its own. Where a launcher shows each process several GPUs of its
/// own, a map says so: DEVPLACE_DEVICE_MAP=0:0,1:1.
inline void bind_devices(const process_group& processes) {
  detail::device_map::of_process().share(processes.local_rank(), processes.local_size());
}

}  // namespace devplace
