// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/control/plane.hpp>
#include <devplace/process/detail/part_members.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// Connects processes of several hosts by the control connection alone: for the small values of a process_group, not
/// for tensors. All data goes through process 0.
class control_transport final : public transport {
 public:
  /// Connects all processes of the plane. `host` identifies this process's host.
  control_transport(const process_ranks& ranks, std::int64_t host, std::shared_ptr<control_plane> plane)
      : transport(ranks), plane_(std::move(plane)), monitor_(plane_), host_(host) {}

  std::string description() const override {
    return devplace::detail::joined({size(), " processes, by the control connection between their hosts"});
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
    plane_->all_gather(members_, part, begins[own + 1] - begins[own], buffers[0], begins.back());
    for (std::byte* const buffer : buffers.subspan(1)) std::memcpy(buffer, buffers[0], begins.back());
  }
  void barrier() override {
    const char here = 0;
    std::vector<char> all(static_cast<std::size_t>(size()));
    plane_->all_gather(members_, &here, 1, all.data(), all.size());
  }

  std::shared_ptr<transport> split(int color, int key) override {
    const host_and_request own{host_, {color, key, ranks().rank}};
    std::vector<host_and_request> all(static_cast<std::size_t>(size()));
    plane_->all_gather(members_, &own, sizeof own, all.data(), all.size() * sizeof own);
    std::vector<split_request> requests;
    for (const host_and_request& one : all) requests.push_back(one.request);
    const std::vector<int> part = members_of_part(std::move(requests), color);
    process_ranks now{0, static_cast<int>(part.size()), 0, 0};
    std::vector<std::int32_t> members;
    for (const int rank : part) {
      const auto r = static_cast<std::size_t>(rank);
      if (rank == ranks().rank) {
        now.rank = static_cast<int>(members.size());
        now.local_rank = now.local_size;
      }
      if (all[r].host == host_) ++now.local_size;
      members.push_back(members_.empty() ? rank : members_[r]);
    }
    return std::shared_ptr<transport>(new control_transport(now, *this, monitor_->part(part), std::move(members)));
  }

  group_monitor* monitor() noexcept override { return monitor_.get(); }

 private:
  struct host_and_request {
    std::int64_t host;
    split_request request;
  };

  /// Connects a part of the processes of `whole`.
  control_transport(const process_ranks& ranks, const control_transport& whole, std::shared_ptr<group_monitor> watch,
                    std::vector<std::int32_t> members)
      : transport(ranks),
        plane_(whole.plane_),
        monitor_(std::move(watch)),
        host_(whole.host_),
        members_(std::move(members)) {}

  std::shared_ptr<control_plane> plane_;
  std::shared_ptr<group_monitor> monitor_;
  std::int64_t host_;
  std::vector<std::int32_t> members_;  // ranks in the plane; empty: all
};

}  // namespace devplace::parallel::detail
