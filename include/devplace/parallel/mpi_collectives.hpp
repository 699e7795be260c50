// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp, as it includes <mpi.h>.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/mpi_types.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/mpi.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace {

namespace parallel {

/// How MPI gets elements that lie on a device: through pinned memory of the host, or by their addresses.
enum class mpi_access : unsigned char { staged, direct };

/// The communicator of places of the processes of an MPI communicator that calls MPI's own non-blocking collectives,
/// MPI_Iallreduce and its like, and asks them, and the group's monitor, until they are done. In which order they add is
/// up to MPI: it may depend on the number of elements, the processes' hosts and the library, so the bits may differ
/// from those of other engines and other numbers of processes. All processes get the same bits from libraries that
/// compute each element once, as most do; the standard only recommends it.
///
/// Of several places in each process the first one's device reduces over them before, and they copy from it afterwards.
/// A maximum of elements of which one is NaN is what MPI makes of it. The calling thread waits for the devices and for
/// the other processes; on the CPU, collectives may be started, and go on during calls of progress() and of MPI.
template <class Backend>
class mpi_collectives {
 public:
  /// The most elements of one call of MPI, whose counts are ints.
  static constexpr std::size_t most_elements = std::size_t{1} << 30;

  /// For these devices of this process and the processes of a group made by MPI; all processes have the same number of
  /// devices. `most` is for tests.
  mpi_collectives(std::span<const int> ordinals, const process_group& processes, mpi_access access,
                  std::size_t most = most_elements) try
      : local_(ordinals),
        via_(std::dynamic_pointer_cast<detail::mpi_transport>(processes.transport())),
        ordinal_(ordinals.front()),
        staged_(!std::is_same_v<Backend, backend::cpu> && access == mpi_access::staged),
        most_(most) {
    if (via_ == nullptr)
      throw argument_error("collective::mpi: the group is " + processes.description() +
                           ", and this engine calls MPI's collectives. Make the group by mpi_session or mpi_processes "
                           "(devplace/parallel/mpi.hpp), or use collective::direct, which works with every group.");
    counts_.resize(static_cast<std::size_t>(via_->size()));
    displacements_.resize(counts_.size());
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// The participants of all processes, and this process's.
  ///@{
  int size() const { return via_->size() * local_count(); }
  int first_rank() const { return via_->ranks().rank * local_count(); }
  int local_count() const { return local_.size(); }
  ///@}

  /// Allocates the memory for buffers of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    local_.prepare(count, element_bytes);
    reserve(std::min(window(element_bytes), count) * element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    check<T>(buffers, op);
    if (size() == 1) return;
    const announced_call call(*via_, {"all_reduce", count, sizeof(T)});
    reduce_here(buffers, count, op);
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      T* const at = take(buffers, first, first, last);
      call_mpi("MPI_Iallreduce", all_reduce_of(at, last - first, op));
      divide(at, last - first, op);
      put(buffers, first, at, last - first);
    });
    spread(buffers, 0, count);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check<T>(buffers, op);
    check_root(root);
    if (size() == 1) return;
    const announced_call call(*via_, {"reduce", count, sizeof(T)});
    reduce_here(buffers, count, op);
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      T* const at = take(buffers, first, first, last);
      call_mpi("MPI_Ireduce", reduce_of(at, last - first, op, root));
      if (!is_here(root)) return;
      divide(at, last - first, op);
      put(buffers, first, at, last - first);
    });
    if (is_here(root)) spread(buffers, 0, count);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(buffers.size());
    check_root(root);
    if (size() == 1) return;
    const announced_call call(*via_, {"broadcast", count, sizeof(T)});
    if (is_here(root) && local_count() > 1) local_.broadcast(buffers, count, root - first_rank());
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      T* const at = take(buffers, first, first, is_here(root) ? last : first);
      call_mpi("MPI_Ibcast", [=, this](MPI_Comm in, MPI_Request* request) {
        return MPI_Ibcast(at, static_cast<int>(last - first), detail::mpi_type<T>(), process_of(root), in, request);
      });
      if (!is_here(root)) put(buffers, first, at, last - first);
    });
    if (!is_here(root)) spread(buffers, 0, count);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check<T>(buffers, op);
    check(begins);
    if (size() == 1) return;
    const announced_call call(*via_, {"reduce_scatter", begins.back(), sizeof(T)});
    reduce_here(buffers, begins.back(), op);
    in_windows<T>(begins.back(), [&](std::size_t first, std::size_t last) {
      const detail::element_range own = divide_among_processes(counts_, begins, first, last);
      T* const at = take(buffers, first, first, last);
      call_mpi("MPI_Ireduce_scatter", reduce_scatter_of(at, counts_, op));
      divide(at, own.size(), op);
      put(buffers, own.first, at, own.size());
    });
    spread(buffers, begins[index(first_rank())], begins[index(first_rank() + local_count())]);
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(buffers.size());
    check(begins);
    if (size() == 1) return;
    const announced_call call(*via_, {"all_gather", begins.back(), sizeof(T)});
    if (local_count() > 1) local_.all_gather(buffers, begins.subspan(index(first_rank()), index(local_count()) + 1));
    in_windows<T>(begins.back(), [&](std::size_t first, std::size_t last) {
      const detail::element_range own = divide_among_processes(counts_, begins, first, last);
      for (std::size_t p = 1; p < counts_.size(); ++p)
        displacements_[p] = displacements_[p - 1] + counts_[p - 1];
      T* const at = take(buffers, first, own.first, own.last);
      call_mpi("MPI_Iallgatherv", [=, this](MPI_Comm in, MPI_Request* request) {
        return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at, counts_.data(), displacements_.data(),
                               detail::mpi_type<T>(), in, request);
      });
      put(buffers, first, at, last - first);
    });
    spread(buffers, 0, begins.back());
  }
  ///@}

  /// The further members of an overlapping_communicator, on the CPU: MPI's collectives are started when the gradients
  /// are there, and go on when MPI is called.
  ///@{
  void mark_ready(std::size_t) requires std::is_same_v<Backend, backend::cpu> {}  // what was called has been executed
  template <class T>
    requires std::is_same_v<Backend, backend::cpu>
  void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    if (local_count() > 1) return all_reduce(buffers, count, op);
    check<T>(buffers, op);
    if (size() == 1) return;
    announce({"all_reduce", count, sizeof(T)});
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      T* const at = buffers[0] + first;
      via_->start_mpi("MPI_Iallreduce", all_reduce_of(at, last - first, op));
      afterwards(at, at, last - first, op);
    });
  }
  template <class T>
    requires std::is_same_v<Backend, backend::cpu>
  void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    if (local_count() > 1) return reduce(buffers, count, op, root);
    check<T>(buffers, op);
    check_root(root);
    if (size() == 1) return;
    announce({"reduce", count, sizeof(T)});
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      T* const at = buffers[0] + first;
      via_->start_mpi("MPI_Ireduce", reduce_of(at, last - first, op, root));
      if (is_here(root)) afterwards(at, at, last - first, op);
    });
  }
  template <class T>
    requires std::is_same_v<Backend, backend::cpu>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    if (local_count() > 1) return reduce_scatter(buffers, begins, op);
    check<T>(buffers, op);
    check(begins);
    if (size() == 1) return;
    announce({"reduce_scatter", begins.back(), sizeof(T)});
    in_windows<T>(begins.back(), [&](std::size_t first, std::size_t last) {
      if (started_ == counts_of_started_.size()) counts_of_started_.emplace_back(counts_.size());
      std::vector<int>& counts = counts_of_started_[started_++];
      const detail::element_range own = divide_among_processes(counts, begins, first, last);
      T* const at = buffers[0] + first;
      via_->start_mpi("MPI_Ireduce_scatter", reduce_scatter_of(at, counts, op));
      afterwards(buffers[0] + own.first, at, own.size(), op);
    });
  }
  void progress() requires std::is_same_v<Backend, backend::cpu> { via_->progress_mpi(); }
  void finish() requires std::is_same_v<Backend, backend::cpu> {
    via_->finish_mpi();
    for (const unfinished& one : unfinished_)
      one.finish(one, size());
    forget();
  }
  void abandon() noexcept requires std::is_same_v<Backend, backend::cpu> {
    via_->abandon_mpi();
    forget();
  }
  ///@}

 private:
  /// What is left to do with a part that MPI has reduced.
  struct unfinished {
    void* to;
    const void* from;
    std::size_t count;
    void (*finish)(const unfinished&, int participants);
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  int process_of(int rank) const { return rank / local_count(); }
  bool is_here(int rank) const { return process_of(rank) == via_->ranks().rank; }

  // The calls of MPI: functions of a communicator and a request. Sums are divided afterwards, if they should be means.
  template <class T>
  static auto all_reduce_of(T* at, std::size_t count, reduction op) {
    return [=](MPI_Comm in, MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(count), detail::mpi_type<T>(),
                            detail::mpi_operation<T>(op), in, request);
    };
  }
  template <class T>
  auto reduce_of(T* at, std::size_t count, reduction op, int root) const {
    return [=, this](MPI_Comm in, MPI_Request* request) {
      const void* const from = is_here(root) ? MPI_IN_PLACE : at;
      return MPI_Ireduce(from, is_here(root) ? at : nullptr, static_cast<int>(count), detail::mpi_type<T>(),
                         detail::mpi_operation<T>(op), process_of(root), in, request);
    };
  }
  /// Afterwards this process's part begins at `at`.
  template <class T>
  static auto reduce_scatter_of(T* at, const std::vector<int>& counts, reduction op) {
    return [=, &counts](MPI_Comm in, MPI_Request* request) {
      return MPI_Ireduce_scatter(MPI_IN_PLACE, at, counts.data(), detail::mpi_type<T>(), detail::mpi_operation<T>(op),
                                 in, request);
    };
  }
  template <class Call>
  void call_mpi(const char* name, const Call& call) {
    via_->start_mpi(name, call);
    via_->finish_mpi();
  }

  std::size_t window(std::size_t element_bytes) const {
    return staged_ ? std::max(via_->portion() / element_bytes, std::size_t{1}) : most_;
  }
  template <class T, class F>
  void in_windows(std::size_t count, const F& f) {
    if (count != 0) reserve(std::min(window(sizeof(T)), count) * sizeof(T));
    for (std::size_t first = 0; first < count; first += std::min(window(sizeof(T)), count - first))
      f(first, first + std::min(window(sizeof(T)), count - first));
  }
  void reserve(std::size_t bytes) {
    if (!staged_ || block_.bytes() >= bytes) return;
    block_ = {};
    block_ = devplace::detail::allocate<staging_backend>(0, bytes, memory_purpose::workspace);
  }

  /// The processes' parts of a window, and this process's.
  detail::element_range divide_among_processes(std::vector<int>& counts, std::span<const std::size_t> begins,
                                               std::size_t first, std::size_t last) const {
    const auto begin = [&](std::size_t process) {
      return std::clamp(begins[process * index(local_count())], first, last);
    };
    for (std::size_t p = 0; p != counts.size(); ++p)
      counts[p] = static_cast<int>(begin(p + 1) - begin(p));
    const std::size_t own = index(via_->ranks().rank);
    return {begin(own), begin(own + 1)};
  }

  /// Where MPI finds elements of the first buffer, which the window from `first` on begins with, after the device has
  /// computed [from, to).
  template <class T>
  T* take(std::span<T* const> buffers, std::size_t first, std::size_t from, std::size_t to) {
    T* const there = buffers[0] + first;
    if constexpr (std::is_same_v<Backend, backend::cpu>) {
      return there;
    } else {
      T* const here = staged_ ? static_cast<T*>(block_.data()) : there;
      on_device([&](int ordinal) {
        if (staged_)
          devplace::detail::copy_out<Backend>(ordinal, here + (from - first), buffers[0] + from,
                                              (to - from) * sizeof(T));
        else
          devplace::detail::memory_of<Backend>().wait(ordinal);
      });
      return here;
    }
  }
  /// Writes elements that MPI has put at `from` to the first buffer.
  template <class T>
  void put(std::span<T* const> buffers, std::size_t first, const T* from, std::size_t count) {
    T* const to = buffers[0] + first;
    if (to == from || count == 0) return;
    if constexpr (std::is_same_v<Backend, backend::cpu>) {
      std::memmove(to, from, count * sizeof(T));
    } else {
      on_device([&](int ordinal) {
        if (staged_)
          devplace::detail::copy_in<Backend>(ordinal, to, from, count * sizeof(T));
        else
          devplace::detail::copy_within<Backend>(ordinal, to, from, count * sizeof(T));
      });
    }
  }
  template <class F>
  void on_device(const F& f) {
    devplace::detail::on_behalf_of_replica<Backend>(0, index(local_count()), ordinal_, [&] { f(ordinal_); });
  }

  /// The first buffer becomes the reduction over this process's places.
  template <class T>
  void reduce_here(std::span<T* const> buffers, std::size_t count, reduction op) {
    if (local_count() > 1) local_.reduce(buffers, count, op == reduction::mean ? reduction::sum : op, 0);
  }
  /// The others become copies of it from element `begin` to `end`.
  template <class T>
  void spread(std::span<T* const> buffers, std::size_t begin, std::size_t end) {
    if (local_count() == 1) return;
    std::array<T*, detail::max_ranks> parts;
    std::transform(buffers.begin(), buffers.end(), parts.begin(), [&](T* buffer) { return buffer + begin; });
    local_.broadcast(std::span<T* const>(parts.data(), buffers.size()), end - begin, 0);
  }
  /// Makes means of sums, where MPI has put them.
  template <class T>
  void divide(T* at, std::size_t count, reduction op) {
    if (op != reduction::mean) return;
    detail::with_reduction<T>(op, [&]<reduction Op>() {
      const detail::finish_reduction<T, Op> divided{at, size()};
      if (staged_)
        devplace::detail::for_each_index<backend::cpu>(0, count, grain, divided);
      else
        devplace::detail::for_each_index<Backend>(ordinal_, count, grain, divided);
    });
  }

  void announce(const collective_call& call) {
    if (via_->monitor() != nullptr) via_->monitor()->enter(call);
    announced_ = true;
  }
  /// A started part is moved and divided by finish().
  template <class T>
  void afterwards(T* to, const T* from, std::size_t count, reduction op) {
    if (to == from && op != reduction::mean) return;
    detail::with_reduction<T>(op, [&]<reduction Op>() {
      unfinished_.push_back({to, from, count, [](const unfinished& one, int participants) {
                               std::memmove(one.to, one.from, one.count * sizeof(T));
                               const detail::finish_reduction<T, Op> divided{static_cast<T*>(one.to), participants};
                               if constexpr (Op == reduction::mean)
                                 devplace::detail::for_each_index<backend::cpu>(0, one.count, grain, divided);
                             }});
    });
  }
  void forget() noexcept {
    unfinished_.clear();
    started_ = 0;
    if (std::exchange(announced_, false) && via_->monitor() != nullptr) via_->monitor()->leave();
  }

  template <class T>
  void check(std::span<T* const> buffers, reduction op) const {
    check(buffers.size());
    detail::check_reduction<T>(op);
  }
  void check(std::size_t buffers) const {
    if (buffers != index(local_count()))
      throw argument_error("collective: " + std::to_string(buffers) + " buffers were given for " +
                           std::to_string(local_count()) + " places of this process; give one for each.");
  }
  void check(std::span<const std::size_t> begins) const {
    if (begins.size() != index(size()) + 1 || !std::is_sorted(begins.begin(), begins.end()) || begins[0] != 0)
      throw argument_error(
          "collective: the boundaries of the parts must be ascending numbers from 0 on, one more than there are "
          "participants in all processes; the part of rank r is [begins[r], begins[r + 1]).");
  }
  void check_root(int root) const {
    if (root < 0 || root >= size())
      throw argument_error("collective: the root is rank " + std::to_string(root) + "; give one from 0 to " +
                           std::to_string(size() - 1) + ".");
  }

  using staging_backend = std::conditional_t<std::is_same_v<Backend, backend::cpu>, backend::cpu, backend::pinned>;
  /// Number of elements that justify a thread.
  static constexpr std::size_t grain = 16384;

  direct<Backend> local_;
  std::shared_ptr<detail::mpi_transport> via_;
  int ordinal_;
  bool staged_;
  std::size_t most_;
  std::vector<int> counts_, displacements_;  ///< of the processes' parts of a window
  devplace::detail::memory_block block_;
  std::vector<std::vector<int>> counts_of_started_;  ///< MPI reads them until the call is done
  std::size_t started_ = 0;
  bool announced_ = false;
  std::vector<unfinished> unfinished_;
};

}  // namespace parallel

namespace collective {

/// The engine that calls the collectives of MPI itself, for groups that mpi_session or mpi_processes has made: for
/// those who want what their machine's MPI can do, such as sums in the network, and need no bits that are the same
/// elsewhere. Elements of CUDA devices are passed to an MPI that says it takes them, else through pinned memory. In one
/// process it is `direct`.
struct mpi {
  /// The name in output.
  static constexpr std::string_view name = "mpi";
  /// Bytes of workspace on each place for reducing `count` elements.
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
  /// The communicator of a backend's devices in one process, and in several.
  ///@{
  template <class Backend>
  using communicator = parallel::direct<Backend>;
  template <class Backend>
  using communicator_across = parallel::mpi_collectives<Backend>;
  ///@}
  /// Creates it; the first device is rank 0.
  template <class Backend>
  communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  /// The same for the processes of a group: ranks are ordered by process. Throws argument_error if another transport
  /// than MPI connects them.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    const bool takes = parallel::detail::mpi_initialised() && parallel::detail::mpi_takes_cuda_memory();
    return communicator_across<Backend>(ordinals, processes,
                                        takes ? parallel::mpi_access::direct : parallel::mpi_access::staged);
  }
};

}  // namespace collective
}  // namespace devplace
