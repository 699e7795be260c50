// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/device_map.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace {

/// Divides the v visible GPUs of a host among its n processes. If v >= n, cuda<0> and the following places of a process
/// are v / n consecutive GPUs, in the order of the local ranks; otherwise cuda<0> is GPU local_rank % v.
/// `launched_processes` and `mpi_session` call this function; other programs call it at the beginning of main with the
/// group of all processes. list_devices() and device_map_description() show the result.
///
/// Does nothing if DEVPLACE_DEVICE_MAP or set_device_map gives a map, if cuda places have been used already, or on
/// simulated devices, because each process has its own. If each process sees several GPUs that the other processes do
/// not see, give a map: DEVPLACE_DEVICE_MAP=0:0,1:1.
inline void bind_devices(const process_group& processes) {
  detail::device_map::of_process().share(processes.local_rank(), processes.local_size());
}

}  // namespace devplace
