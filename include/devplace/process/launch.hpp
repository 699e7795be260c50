// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/hash.hpp>
#include <devplace/base/host.hpp>
#include <devplace/process/bind_devices.hpp>
#include <devplace/process/control/plane.hpp>
#include <devplace/process/launch_environment.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/process_options.hpp>
#include <devplace/process/shared_memory_transport.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// Connects processes of several hosts by the control connection alone: for the small values of a process_group, not
/// for tensors. All data goes through process 0.
class control_transport final : public transport {
 public:
  /// Connects the processes with the ranks `members` of the plane, which `watch` monitors; all if `members` is empty.
  /// `host` identifies this process's host, and `part` the part of the group that split() made, in all its processes.
  control_transport(const process_ranks& ranks, std::int64_t host, std::shared_ptr<control_plane> plane,
                    std::shared_ptr<group_monitor> watch, std::vector<std::int32_t> members = {},
                    std::uint64_t part = 0)
      : transport(ranks),
        plane_(std::move(plane)),
        monitor_(std::move(watch)),
        host_(host),
        members_(std::move(members)),
        part_(part) {}

  std::string description() const override {
    return joined({size(), " processes, by the control connection between their hosts"});
  }
  void require_for_tensors() const override {
    throw communication_error(
        "the processes of this group are on several hosts and were started without MPI, so that only small values are "
        "sent between them. Reduce between GPUs by collective::nccl, of <devplace/parallel/nccl.hpp>; for CPUs connect "
        "the processes by MPI: start them by mpirun or srun and make their group by <devplace/process/mpi.hpp>.");
  }
  std::size_t portion() const noexcept override { return control_gather_limit; }

  // start_distribute() returns when the call is complete: only engines for tensors overlap calls with other work.
  bool poll() override { return true; }
  void wait() override {}
  void start_collect(std::span<std::byte* const>, std::span<const std::size_t>) override { require_for_tensors(); }
  collected summands() noexcept override { return {}; }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    if (begins.back() == 0) return;
    const auto own = static_cast<std::size_t>(ranks().rank);
    plane_->all_gather({members_.data(), members_.size()}, part, begins[own + 1] - begins[own], buffers[0],
                       begins.back(), part_);
    for (std::byte* const buffer : buffers.subspan(1)) std::memcpy(buffer, buffers[0], begins.back());
  }
  void barrier() override {
    const char here[3] = {};  // no number has this size: another process may have made another call
    std::vector<char> all(sizeof here * static_cast<std::size_t>(size()));
    plane_->all_gather({members_.data(), members_.size()}, here, sizeof here, all.data(), all.size(), part_);
  }

  std::shared_ptr<transport> split(int color, int key) override {
    // First, because no number has the size of its requests: another process may have made another call.
    const std::vector<int> part = members_of_part(*this, color, key);
    std::vector<std::int64_t> hosts(static_cast<std::size_t>(size()));
    all_gather(&host_, sizeof host_, hosts.data());
    process_ranks now{0, static_cast<int>(part.size()), 0, 0};
    std::vector<std::int32_t> members;
    for (const int rank : part) {
      const auto r = static_cast<std::size_t>(rank);
      if (rank == ranks().rank) {
        now.rank = static_cast<int>(members.size());
        now.local_rank = now.local_size;
      }
      if (hosts[r] == host_) ++now.local_size;
      members.push_back(members_.empty() ? rank : members_[r]);
    }
    return std::make_shared<control_transport>(now, host_, plane_, monitor_->part({part.data(), part.size()}),
                                               std::move(members), devplace::detail::hash_of(part_, ++splits_));
  }

  group_monitor* monitor() noexcept override { return monitor_.get(); }

 private:
  std::shared_ptr<control_plane> plane_;
  std::shared_ptr<group_monitor> monitor_;
  std::int64_t host_;
  std::vector<std::int32_t> members_;  // ranks in the plane; empty: all
  std::uint64_t part_, splits_ = 0;
};

inline control_endpoint endpoint_of(const launch_environment& launched) {
  if (launched.local_size() == launched.size()) return {};
  if (launched.main_address().empty())
    throw communication_error(
        {"launched_processes: the ", launched.size(),
         " processes of the job are on several hosts, and the host of process 0 is unknown. Set MASTER_ADDR, or "
         "connect the processes by MPI: <devplace/process/mpi.hpp>. This process is ",
         launched.describe(), "."});
  return {launched.main_address(), launched.port()};
}

/// The job's secret: DEVPLACE_JOB_TOKEN, or the text of the file DEVPLACE_JOB_TOKEN_FILE. No error message contains it.
inline std::string job_token(const launch_variables& variables, const launch_environment& launched) {
  std::string token = variables.text("DEVPLACE_JOB_TOKEN");
  const std::string path = variables.text("DEVPLACE_JOB_TOKEN_FILE");
  if (token.empty() && !path.empty()) {
    const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct ::stat status = {};
    char text[256];
    const ::ssize_t bytes = file && ::fstat(file.get(), &status) == 0 ? ::read(file.get(), text, sizeof text) : -1;
    if (bytes < 0 || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
      throw file_error({"launched_processes: DEVPLACE_JOB_TOKEN_FILE=\"", path, "\" ",
                        bytes < 0
                            ? std::string("cannot be read: ") + std::strerror(errno)
                            : "belongs to another user, or other users can read or write it and may know the token",
                        ". Make a file with a new token, the same on each host: (umask 077; echo <token> > <file>)."});
    token.assign(text, static_cast<std::size_t>(bytes));
    token.erase(token.find_last_not_of(" \r\n") + 1);
  }
  if (token.size() >= 16) return token;
  throw argument_error(
      {"launched_processes: processes on several hosts meet over the network and prove by a token that they belong to "
       "the job, but ",
       token.empty() ? "no token is set" : "the token that is set has fewer than 16 characters",
       ". Set the same token on all hosts before the launcher starts: export DEVPLACE_JOB_TOKEN=$(openssl rand -hex "
       "16). Open MPI's mpirun passes it on with -x DEVPLACE_JOB_TOKEN. This process is ",
       launched.describe(), "."});
}

/// A name that is unique to the job. Over a network it contains the job's secret.
inline std::string job_name(const launch_environment& launched, const control_endpoint& endpoint) {
  const launch_variables variables;
  std::string name = joined({launched.job(), " port ", launched.port()});
  if (!endpoint.address.empty()) return joined({name, " ", job_token(variables, launched)});
  if (launched.started_by() == launcher::by_hand && !variables.has("DEVPLACE_PORT") && !variables.has("MASTER_PORT"))
    throw argument_error(
        {"launched_processes: the processes were started by hand without a port, which tells the processes of "
         "different jobs apart. Set MASTER_PORT to a number below 65535, the same for all processes of the job and "
         "another one for each job: export MASTER_PORT=$((20000 + $$ % 10000)). This process is ",
         launched.describe(), "."});
  // MPICH's mpirun does not number its jobs, but starts a helper process for each job; PMI_FD is a socket to the
  // helper.
  ::pid_t helper = 0;
  if (launched.started_by() == launcher::mpich && variables.has("PMI_FD"))
    static_cast<void>(same_user(std::atoi(variables("PMI_FD")), &helper));
  return helper == 0 ? name : joined({name, " helper ", helper});
}

}  // namespace devplace::parallel::detail

namespace devplace {

/// Connects and watches the processes that torchrun, mpirun or srun has started, as PyTorch's init_process_group does.
/// Returns a group of this process alone if no launcher started it or the job has one process. All processes of the job
/// call it and wait for each other. Divides each host's GPUs among its processes by bind_devices.
///
/// On one host the processes use shared memory. On several hosts they connect to launch_environment::port() on process
/// 0's host, and the group sends small values only: tensors are reduced between GPUs by collective::nccl, and between
/// CPUs by MPI in groups made by mpi_processes. DEVPLACE_JOB_TOKEN, or the file DEVPLACE_JOB_TOKEN_FILE, proves that a
/// process belongs to the job; the traffic is neither encrypted nor signed.
///
/// Throws:
/// - argument_error if the launcher's variables contradict each other, if the token is missing, or if the port is
///   missing for processes started by hand;
/// - file_error if the token's file cannot be used;
/// - communication_error if processes do not connect in time, contradict each other, or are on several hosts and
///   process 0's address is unknown.
inline process_group launched_processes(const process_options& options = {}) {
  const launch_environment launched = launch_environment::of_process();
  if (launched.size() == 1) return process_group();
  const parallel::control_endpoint endpoint = parallel::detail::endpoint_of(launched);
  const parallel::job_member member{parallel::detail::job_name(launched, endpoint), launched.rank(), launched.size(),
                                    launched.describe()};
  const parallel::process_ranks ranks{launched.rank(), launched.size(), launched.local_rank(), launched.local_size()};
  const auto plane = std::make_shared<parallel::control_plane>(member, endpoint, options);
  const auto exchange = [&](const void* own, std::size_t bytes, void* all) { plane->all_gather(own, bytes, all); };
  std::shared_ptr<parallel::transport> transport;
  if (endpoint.address.empty()) {
    transport = parallel::shared_memory_transport::connect(ranks, exchange, plane);
  } else {  // hosts are told apart by their numbers in the job, or by hashes of their names
    const auto name = static_cast<std::int64_t>(detail::hash_of(detail::host_name()) | std::uint64_t{1} << 63);
    const std::int64_t host = launched.node() ? *launched.node() : name;
    transport = std::make_shared<parallel::detail::control_transport>(ranks, host, plane, plane);
  }
  process_group connected(std::move(transport));
  bind_devices(connected);
  return connected;
}

}  // namespace devplace
