// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp, because this header includes <mpi.h>.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/mpi_collective_calls.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/process/mpi.hpp>

namespace devplace::parallel {

/// A communicator that calls MPI's own non-blocking collectives, such as MPI_Iallreduce, and polls these and the
/// group's monitor until the collectives complete. MPI chooses the order of summation: it may depend on the number of
/// elements, the processes' hosts and the library. The bits may therefore differ from those of other engines, and
/// between numbers of processes. Most libraries compute each element once, so that all processes get the same bits; the
/// standard only recommends this.
///
/// If a process has several places, the device of the first place reduces over these places before MPI is called. The
/// other places copy the result at the end. If an element is NaN, the maximum depends on MPI. The calling thread waits
/// for the devices and for the other processes. On the CPU, collectives may be started; they advance during calls of
/// progress() and of MPI. MPI cannot cancel collectives: after a failure MPI may still use the buffers, so the program
/// must not continue to use MPI.
template <class Backend> class mpi_collectives : public detail::participants {
  enum execution : bool { at_once, started };

 public:
  /// Maximum number of elements of one call of MPI, whose counts are ints.
  static constexpr std::size_t most_elements = std::size_t{1} << 30;

  /// Connects these devices of this process with as many devices of each other process of the group. The group must be
  /// connected by MPI. Only tests set `most`.
  mpi_collectives(std::span<const int> ordinals, const process_group& processes, mpi_access access,
                  std::size_t most = most_elements)
      : participants(processes.transport()->ranks(), ordinals.size()),
        local_(ordinals),
        transport_(detail::mpi_transport_of(processes, "collective::mpi")),
        elements_(ordinals.front(), ordinals.size(), access, transport_->portion(), most),
        counts_(devplace::detail::naming_bad_alloc(
            "a communicator", [&] { return std::vector(1, detail::mpi_counts(index(this->processes()))); })) {}

  /// Allocates the memory for buffers of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    local_.prepare(count, element_bytes);
    elements_.reserve(count, element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op, execution mode = at_once) {
    check<T>(buffers, op);
    if (size() == 1) return;
    const announced_call call(*transport_, {"all_reduce", count, sizeof(T)});
    reduce_here(buffers, count, op);
    elements_.template in_windows<T>(0, count, [&](std::size_t first, std::size_t last) {
      T* const at = elements_.take(buffers[0], first, first, last);
      call_mpi(mode, "MPI_Iallreduce", [=](MPI_Comm in, MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(last - first), detail::mpi_type<T>(),
                              detail::mpi_operation<T>(op), in, request);
      });
      store(mode, buffers[0] + first, at, last - first, op);
    });
    copy_to_others(buffers, {0, count});
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root, execution mode = at_once) {
    check<T>(buffers, op, root);
    if (size() == 1) return;
    const announced_call call(*transport_, {"reduce", count, sizeof(T)});
    reduce_here(buffers, count, op);
    elements_.template in_windows<T>(0, count, [&](std::size_t first, std::size_t last) {
      T* const at = elements_.take(buffers[0], first, first, last);
      call_mpi(mode, "MPI_Ireduce", detail::mpi_reduce(at, last - first, op, process_of(root), is_here(root)));
      if (is_here(root)) store(mode, buffers[0] + first, at, last - first, op);
    });
    if (is_here(root)) copy_to_others(buffers, {0, count});
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(buffers.size(), root);
    if (size() == 1) return;
    const announced_call call(*transport_, {"broadcast", count, sizeof(T)});
    if (is_here(root) && local_count() > 1) local_.broadcast(buffers, count, root - first_rank());
    elements_.template in_windows<T>(0, count, [&](std::size_t first, std::size_t last) {
      T* const at = elements_.take(buffers[0], first, first, is_here(root) ? last : first);
      transport_->call_mpi("MPI_Ibcast", [&](MPI_Comm in, MPI_Request* request) {
        return MPI_Ibcast(at, static_cast<int>(last - first), detail::mpi_type<T>(), process_of(root), in, request);
      });
      if (!is_here(root)) elements_.put(buffers[0] + first, at, last - first);
    });
    if (!is_here(root)) copy_to_others(buffers, {0, count});
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op,
                      execution mode = at_once) {
    check<T>(buffers, op, begins);
    if (size() == 1) return;
    const announced_call call(*transport_, {"reduce_scatter", begins.back(), sizeof(T)});
    reduce_here(buffers, begins.back(), op);
    elements_.template in_windows<T>(begins.front(), begins.back(), [&](std::size_t first, std::size_t last) {
      const auto [counts, own] = divide(begins, first, last, mode);
      T* const at = elements_.take(buffers[0], first, first, last);
      if (!counts.moves_overlap()) {
        call_mpi(mode, "MPI_Ireduce_scatter", [&, &counts = counts](MPI_Comm in, MPI_Request* request) {
          return MPI_Ireduce_scatter(MPI_IN_PLACE, at, counts.sizes.data(), detail::mpi_type<T>(),
                                     detail::mpi_operation<T>(op), in, request);
        });
        return store(mode, buffers[0] + own.first, at, own.size(), op);
      }
      for (int p = 0; p != processes(); ++p)
        if (const auto [part, size] = counts.part(index(p)); size != 0)
          call_mpi(mode, "MPI_Ireduce", detail::mpi_reduce(at + part, size, op, p, p == process()));
      store(mode, buffers[0] + own.first, at + (own.first - first), own.size(), op);
    });
    copy_to_others(buffers, {begins[index(first_rank())], begins[index(first_rank() + local_count())]});
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(buffers.size(), begins);
    if (size() == 1) return;
    const announced_call call(*transport_, {"all_gather", begins.back(), sizeof(T)});
    if (local_count() > 1) local_.all_gather(buffers, begins.subspan(index(first_rank()), index(local_count()) + 1));
    elements_.template in_windows<T>(begins.front(), begins.back(), [&](std::size_t first, std::size_t last) {
      const auto [counts, own] = divide(begins, first, last, at_once);
      T* const at = elements_.take(buffers[0], first, own.first, own.last);
      transport_->call_mpi("MPI_Iallgatherv", [&, &counts = counts](MPI_Comm in, MPI_Request* request) {
        return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at, counts.sizes.data(), counts.displacements.data(),
                               detail::mpi_type<T>(), in, request);
      });
      elements_.put(buffers[0] + first, at, last - first);
    });
    copy_to_others(buffers, {begins.front(), begins.back()});
  }
  ///@}

  /// The members of an overlapping_communicator. They are templates that exist on the CPU only. MPI's collectives
  /// advance when MPI is called.
  ///@{
  template <std::same_as<backend::cpu> = Backend> void mark_ready(std::size_t) {}  // the CPU has no pending work
  template <class T, std::same_as<backend::cpu> = Backend>
  void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    all_reduce(buffers, count, op, mode_of_start());
  }
  template <class T, std::same_as<backend::cpu> = Backend>
  void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    reduce(buffers, count, op, root, mode_of_start());
  }
  template <class T, std::same_as<backend::cpu> = Backend>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    reduce_scatter(buffers, begins, op, mode_of_start());
  }
  template <std::same_as<backend::cpu> = Backend> void progress() { transport_->progress_mpi(); }
  template <std::same_as<backend::cpu> = Backend> void finish() {
    if (announced_ && transport_->monitor() != nullptr) transport_->monitor()->resume();
    transport_->finish_mpi();
    unfinished_.finish(size());
    clear();
  }
  template <std::same_as<backend::cpu> = Backend> void abandon() noexcept {
    transport_->abandon_mpi();
    clear();
  }
  ///@}

 private:
  /// Between several places of this process, started reductions are executed at once.
  execution mode_of_start() const { return local_count() > 1 ? at_once : started; }
  void call_mpi(execution mode, const char* name, const auto& start) {
    if (mode == at_once) return transport_->call_mpi(name, start);
    announced_ = true;
    transport_->start_mpi(name, start);
  }
  /// Stores results of MPI at `to`: at once, or when the started reductions have ended.
  template <class T> void store(execution mode, T* to, T* from, std::size_t count, reduction op) {
    if (mode == started) return unfinished_.add(to, from, count, op);
    elements_.divide(from, count, op, size());
    elements_.put(to, from, count);
  }

  /// Divides a window among the processes. Returns counts that no started call uses, and this process's elements.
  std::pair<const detail::mpi_counts&, detail::element_range> divide(std::span<const std::size_t> begins,
                                                                     std::size_t first, std::size_t last,
                                                                     execution mode) {
    if (used_counts_ == counts_.size()) counts_.emplace_back(index(processes()));
    detail::mpi_counts& counts = counts_[mode == started ? used_counts_++ : used_counts_];
    return {counts, counts.divide(begins, index(local_count()), first, last, index(process()))};
  }

  template <class T> void reduce_here(std::span<T* const> buffers, std::size_t count, reduction op) {
    if (local_count() > 1) local_.reduce(buffers, count, op == reduction::mean ? reduction::sum : op, 0);
  }
  /// Copies a range of the first buffer's elements to the others.
  template <class T> void copy_to_others(std::span<T* const> buffers, detail::element_range range) {
    if (local_count() > 1) local_.broadcast(buffers, range, 0);
  }

  void clear() noexcept {
    unfinished_.clear();
    used_counts_ = 0;
    if (std::exchange(announced_, false) && transport_->monitor() != nullptr) transport_->monitor()->leave();
  }

  using participants::check;
  template <class T, class... X> void check(std::span<T* const> buffers, reduction op, const X&... arguments) const {
    check(buffers.size());
    detail::check_reduction<T>(op);
    check(arguments...);
  }

  direct<Backend> local_;
  std::shared_ptr<detail::mpi_transport> transport_;
  detail::mpi_elements<Backend> elements_;
  std::vector<detail::mpi_counts> counts_;  ///< MPI reads the counts until the call has ended
  std::size_t used_counts_ = 0;             ///< number of those of started calls
  bool announced_ = false;                  ///< whether there are started calls
  detail::mpi_unfinished unfinished_;
};

}  // namespace devplace::parallel

namespace devplace::collective {

/// The engine that calls MPI's own collectives, for groups made by mpi_session or mpi_processes. It uses features of
/// the machine's MPI, such as reductions in the network, but its bits are not reproducible elsewhere. A CUDA-aware MPI
/// accesses the memory of CUDA devices directly; for other libraries devplace copies through pinned memory. In one
/// process the engine is `direct`.
struct mpi : engine_base<parallel::direct, parallel::mpi_collectives> {
  /// The name in output.
  static constexpr std::string_view name = "mpi";
  /// Connects the devices of a group's processes; ranks are ordered by process. Throws argument_error if the group is
  /// not connected by MPI.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    const bool is_cuda_aware = parallel::detail::mpi_initialised() && parallel::detail::mpi_takes_cuda_memory();
    return communicator_across<Backend>(ordinals, processes,
                                        is_cuda_aware ? parallel::mpi_access::direct : parallel::mpi_access::staged);
  }
};

}  // namespace devplace::collective
