// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <time.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/clock.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/host.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/nccl_calls.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// The host and the GPU of a rank; equal for two ranks on one GPU.
struct nccl_device {
  std::uint64_t host;
  char bus[16];

  bool operator==(const nccl_device&) const = default;
};

/// NCCL's identity of this host is NCCL_HOSTID if it is set, otherwise the host's name and boot id.
inline nccl_device nccl_device_of(int ordinal) {
  const char* const id = std::getenv("NCCL_HOSTID");
  nccl_device result{devplace::detail::hash_of(id != nullptr && *id != '\0'
                                                   ? std::string(id)
                                                   : devplace::detail::host_name() + devplace::detail::boot_id()),
                     {}};
  const devplace::detail::cuda_device_guard device(ordinal);
  devplace::detail::check_cuda(cudaDeviceGetPCIBusId(result.bus, sizeof result.bus, device.visible()),
                               "cudaDeviceGetPCIBusId", ordinal);
  return result;
}

/// Throws if two ranks use one GPU, where NCCL would hang or fail with an internal error. Sharing a GPU is an
/// experimental option since NCCL 2.30.3.
inline void require_own_gpus(std::span<const nccl_device> devices, int version) {
  const char* const shared = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  if (version >= NCCL_VERSION(2, 30, 3) && shared != nullptr && std::string_view(shared) == "1") return;
  for (std::size_t b = 0; b < devices.size(); ++b)
    for (std::size_t a = 0; a != b; ++a)
      if (devices[a] == devices[b])
        throw communication_error(
            {"collective::nccl: ranks ", a, " and ", b, " use one GPU (PCI address ", devices[a].bus, "), and NCCL ",
             nccl_version_text(version),
             " needs one GPU for each rank. Start no more processes on a host than it has GPUs, give each place its "
             "own device in DEVPLACE_DEVICE_MAP, or use collective::direct, which shares GPUs."});
}

/// Checks that NCCL can connect the processes' places. The check throws in all processes or in none, so that no process
/// waits for one that has thrown. Returns the unique id of process 0.
inline ncclUniqueId nccl_rendezvous(std::span<const int> ordinals, const process_group& processes) {
  int version = 0;
  if (const ncclResult_t got = ncclGetVersion(&version); got != ncclSuccess)
    throw communication_error(nccl_error_text("ncclGetVersion", {}, got, nullptr));
  struct process {
    int version, places;  // equal in all processes
  };
  const std::vector<process> all = processes.all_gather(process{version, static_cast<int>(ordinals.size())});
  for (std::size_t r = 0; r != all.size(); ++r) {
    if (all[r].version != all[0].version)
      throw communication_error({"collective::nccl: process 0 has loaded NCCL ", nccl_version_text(all[0].version),
                                 " and process ", r, " NCCL ", nccl_version_text(all[r].version),
                                 ". All must load the same version; see LD_LIBRARY_PATH on each host."});
    if (all[r].places != all[0].places)
      throw communication_error({"collective::nccl: process 0 has ", all[0].places, " places and process ", r, " has ",
                                 all[r].places, "; all processes must be started from the same program."});
  }
  if (version < NCCL_VERSION_CODE / 100 * 100)
    throw communication_error({"collective::nccl: the program was compiled for NCCL ",
                               nccl_version_text(NCCL_VERSION_CODE), " and has loaded NCCL ",
                               nccl_version_text(version),
                               ", which is older. Put the newer library's folder first in LD_LIBRARY_PATH."});
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

/// Owns NCCL's communicators of this process's devices. The devices of a process have consecutive ranks.
///
/// The communicators are non-blocking, because a call that blocks inside NCCL could not be interrupted. The calling
/// thread polls the communicators and the group's monitor until NCCL has completed a call or the time limit has passed.
/// After a failure the communicators are aborted, which ends their work on the devices, and every later call throws.
class nccl_clique : public participants {
 public:
  /// Connects these devices with an equal number of devices in every other process. All processes call this together.
  nccl_clique(std::span<const int> ordinals, const process_group& processes)
      : participants(processes.transport()->ranks(), ordinals.size()),
        ordinals_(ordinals.begin(), ordinals.end()),
        transport_(processes.transport()),
        options_(transport_->monitor() == nullptr ? process_options{} : transport_->monitor()->options()),
        communicators_(ordinals.size()) {
    check_devices(ordinals.size(), "collective::nccl: a communicator");
    const ncclUniqueId id = nccl_rendezvous(ordinals, processes);
    complete("ncclCommInitRankConfig", options_.init_timeout, [&](std::size_t k) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      config.commName = "devplace";
      return ncclCommInitRankConfig(&communicators_[k], size(), id, rank(k), &config);
    });
  }
  nccl_clique& operator=(nccl_clique&&) = delete;
  virtual ~nccl_clique() = default;

  int rank(std::size_t k) const { return first_rank() + static_cast<int>(k); }

 protected:
  const std::vector<int>& ordinals() const { return ordinals_; }
  transport& group_transport() const { return *transport_; }
  bool failed() const { return failed_; }
  void require_usable() const {
    if (failed_)
      throw communication_error(
          "collective::nccl: an earlier collective of this communicator failed, so NCCL's connections are gone. End "
          "the program, or make a new trainer.");
  }

  /// Calls `f(k, communicator)` for each device as one NCCL group, which may still be in progress afterwards.
  template <class F> void issue(const char* call, const F& f) {
    const group_result result = in_group([&](std::size_t k) { return f(k, communicators_[k]); });
    if (result.failed()) fail(result.code, nccl_error_text(call, name(result.device), result.code, nullptr));
  }
  void wait_for_nccl(const char* call) { wait_for_nccl(call, options_.op_timeout); }

  /// Whether NCCL has completed the issued calls. Throws if a communicator or the group has failed.
  bool poll(const char* call) {
    bool done = true;
    for (std::size_t k = 0; k != communicators_.size(); ++k) {
      ncclResult_t state = ncclSuccess;
      const ncclResult_t result = ncclCommGetAsyncError(communicators_[k], &state);
      if (result != ncclSuccess) state = result;
      if (state != ncclSuccess && state != ncclInProgress)
        fail(state, nccl_error_text(call, name(k), state, communicators_[k]));
      done = done && state == ncclSuccess;
    }
    if (group_monitor* const monitor = transport_->monitor(); monitor != nullptr && (waiting_ || !done))
      abort_on_exception([&] { monitor->check(); });
    return done;
  }
  void check_time(const char* call, double waited) { check_time(call, waited, options_.op_timeout); }

  /// Reports to the monitor that this process waits in its last call, or no longer waits.
  void begin_waiting() noexcept {
    if (transport_->monitor() != nullptr && !std::exchange(waiting_, true)) transport_->monitor()->resume();
  }
  void end_waiting() noexcept {
    if (std::exchange(waiting_, false)) transport_->monitor()->leave();
  }

  /// Waits until the collectives of all ranks have ended, and destroys the communicators.
  void shut_down() {
    complete("ncclCommFinalize", options_.op_timeout,
             [&](std::size_t k) { return ncclCommFinalize(communicators_[k]); });
    static_cast<void>(
        in_group([&](std::size_t k) { return ncclCommDestroy(std::exchange(communicators_[k], nullptr)); }));
  }
  void abort() noexcept {
    failed_ = true;
    const bool grouped = ncclGroupStart() == ncclSuccess;
    for (ncclComm_t& communicator : communicators_)
      if (communicator != nullptr) static_cast<void>(ncclCommAbort(std::exchange(communicator, nullptr)));
    if (grouped) static_cast<void>(ncclGroupEnd());
    after_abort();
  }
  virtual void after_abort() noexcept {}

 private:
  struct group_result {
    ncclResult_t code;
    std::size_t device;  ///< device of the failed call
    bool failed() const { return code != ncclSuccess && code != ncclInProgress; }
  };
  class waiting_scope {
   public:
    explicit waiting_scope(nccl_clique& clique) noexcept : clique_(clique) { clique_.begin_waiting(); }
    waiting_scope& operator=(waiting_scope&&) = delete;
    ~waiting_scope() { clique_.end_waiting(); }

   private:
    nccl_clique& clique_;
  };

  std::string name(std::size_t k) const {
    return devplace::detail::joined(
        {"rank ", rank(k), " of ", size(), " (", place_name(backend::cuda{}, ordinals_[k]), ")"});
  }

  /// Calls `f(k)` for each device in one NCCL group. Ends the group even if a call fails, because later groups would
  /// otherwise be nested in the open one.
  template <class F> group_result in_group(const F& f) {
    group_result result{ncclGroupStart(), 0};
    if (result.failed()) return result;
    for (std::size_t k = 0; k != ordinals_.size() && !result.failed(); ++k) {
      const devplace::detail::cuda_device_guard device(ordinals_[k]);
      result = {f(k), k};
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result.failed() ? result : group_result{ended, 0};
  }
  template <class F> void complete(const char* call, double seconds, const F& f) {
    issue(call, [&](std::size_t k, ncclComm_t) { return f(k); });
    wait_for_nccl(call, seconds);
  }
  void wait_for_nccl(const char* call, double seconds) {
    if (poll(call)) return;
    const waiting_scope scope(*this);
    ::timespec pause{0, 1000};
    const double since = devplace::detail::monotonic_seconds();
    do {
      check_time(call, devplace::detail::monotonic_seconds() - since, seconds);
      ::nanosleep(&pause, nullptr);
      pause.tv_nsec = std::min(2 * pause.tv_nsec, 200000L);
    } while (!poll(call));
  }
  void check_time(const char* call, double waited, double limit) {
    if (limit == 0 || waited < limit) return;
    fail(ncclRemoteError,
         devplace::detail::joined({call, " of ", name(0), " is not done after ", static_cast<int>(waited),
                                   " s: another rank did not make this call, or cannot be reached. process_options "
                                   "says how long calls may take."}));
  }

  /// Aborts and throws; first asks the monitor for the cause if another process may have failed.
  [[noreturn]] void fail(ncclResult_t code, const std::string& why) {
    const bool may_be_remote = code == ncclRemoteError || code == ncclSystemError;
    if (group_monitor* const monitor = transport_->monitor(); monitor != nullptr && may_be_remote)
      abort_on_exception([&] { monitor->explain(); });
    abort();
    throw communication_error("collective::nccl: " + why);
  }
  template <class F> void abort_on_exception(const F& f) {
    try {
      f();
    } catch (...) {
      abort();
      throw;
    }
  }

  std::vector<int> ordinals_;
  std::shared_ptr<transport> transport_;
  process_options options_;
  std::vector<ncclComm_t> communicators_;
  bool waiting_ = false;  // whether the monitor knows that this process waits
  bool failed_ = false;
};

}  // namespace devplace::parallel::detail
