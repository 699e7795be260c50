// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/host.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/nccl_calls.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel::detail {

/// The host and the GPU of a rank; equal for two ranks on one GPU.
struct nccl_device {
  std::uint64_t host;
  char bus[16];

  bool operator==(const nccl_device&) const = default;
};

/// A hash of NCCL's identity of this host: NCCL_HOSTID if it is set, otherwise the host's name and boot id.
inline std::uint64_t nccl_host() {
  const char* const value = std::getenv("NCCL_HOSTID");
  return devplace::detail::hash_of(value != nullptr && *value != '\0'
                                       ? std::string(value)
                                       : devplace::detail::host_name() + devplace::detail::boot_id());
}

inline nccl_device nccl_device_of(int ordinal) {
  nccl_device result{nccl_host(), {}};
  const devplace::detail::cuda_device_guard device(ordinal);
  devplace::detail::check_cuda(cudaDeviceGetPCIBusId(result.bus, sizeof result.bus, device.visible()),
                               "cudaDeviceGetPCIBusId", ordinal);
  return result;
}

/// Whether several ranks may share a GPU, an experimental option since NCCL 2.30.3.
inline bool nccl_shares_gpus(int version) {
  const char* const enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return version >= NCCL_VERSION(2, 30, 3) && enabled != nullptr && std::string_view(enabled) == "1";
}

/// Throws if two ranks use one GPU, where NCCL would hang or fail with an internal error.
inline void require_own_gpus(std::span<const nccl_device> devices, int version) {
  if (nccl_shares_gpus(version)) return;
  for (std::size_t b = 0; b < devices.size(); ++b)
    for (std::size_t a = 0; a != b; ++a)
      if (devices[a] == devices[b])
        throw communication_error(
            {"collective::nccl: ranks ", a, " and ", b, " use one GPU (PCI address ", devices[a].bus, "), and NCCL ",
             nccl_version_text(version),
             " needs one GPU for each rank. Start no more processes on a host than it has GPUs, give each place its "
             "own device in DEVPLACE_DEVICE_MAP, or use collective::direct, which shares GPUs."});
}

/// Properties that must be equal in all processes before a communicator is made.
struct nccl_process {
  int version;
  int places;
};

/// Throws communication_error if this program cannot use the loaded NCCL.
inline void require_nccl(int version) {
  constexpr int oldest = NCCL_VERSION_CODE / 100 * 100;
  if (version < oldest)
    throw communication_error({"collective::nccl: the program was compiled for NCCL ",
                               nccl_version_text(NCCL_VERSION_CODE), " and has loaded NCCL ",
                               nccl_version_text(version),
                               ", which is older. Put the newer library's folder first in LD_LIBRARY_PATH."});
}

/// Checks that NCCL can connect the processes' places. The check throws in all processes or in none, so that no process
/// waits for one that has thrown. Returns the unique id of process 0.
inline ncclUniqueId nccl_rendezvous(std::span<const int> ordinals, const process_group& processes) {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  const nccl_process own{version, static_cast<int>(ordinals.size())};
  const std::vector<nccl_process> all = processes.all_gather(own);
  for (std::size_t r = 0; r != all.size(); ++r) {
    if (all[r].version != all[0].version)
      throw communication_error({"collective::nccl: process 0 has loaded NCCL ", nccl_version_text(all[0].version),
                                 " and process ", r, " NCCL ", nccl_version_text(all[r].version),
                                 ". All must load the same version; see LD_LIBRARY_PATH on each host."});
    if (all[r].places != all[0].places)
      throw communication_error({"collective::nccl: process 0 has ", all[0].places, " places and process ", r, " has ",
                                 all[r].places, "; all processes must be started from the same program."});
  }
  require_nccl(version);
  std::vector<nccl_device> devices(all.size() * ordinals.size());
  for (std::size_t k = 0; k != ordinals.size(); ++k) {
    const std::vector<nccl_device> of_place = processes.all_gather(nccl_device_of(ordinals[k]));
    for (std::size_t r = 0; r != all.size(); ++r) devices[r * ordinals.size() + k] = of_place[r];
  }
  require_own_gpus(devices, version);
  struct {
    ncclResult_t status;
    ncclUniqueId id;
  } first{};
  if (processes.is_main()) first.status = ncclGetUniqueId(&first.id);
  const std::string why =
      first.status == ncclSuccess ? "" : nccl_error_text("ncclGetUniqueId", {}, first.status, nullptr);
  first = processes.broadcast(first);
  if (!why.empty()) throw communication_error(why);
  if (first.status != ncclSuccess)
    throw communication_error({"collective::nccl: process 0 could not make NCCL's id (", nccl_result_name(first.status),
                               "); its output says why."});
  return first.id;
}

}  // namespace devplace::parallel::detail
