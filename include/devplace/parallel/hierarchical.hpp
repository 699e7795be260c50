// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/parallel/across_processes.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace {

namespace parallel {

/// A communicator that reduces in two levels: over the places of each process, on their devices, and then over the
/// processes, between their first places. For n processes and S bytes each process receives about 2 S, where
/// across_processes receives 2 S for each of its places.
///
/// With two places in each process a sum is (g0 + g1) + (g2 + g3): the bits depend on the number of places in each
/// process, not on threads or buckets, and are those of `direct` for one place in each. Buckets are reduced after the
/// backward pass.
template <class Backend>
class hierarchical {
 public:
  /// Connects these devices of this process with those of the group's other processes, which have the same number.
  hierarchical(std::span<const int> ordinals, const process_group& processes) try
      : local_(ordinals),
        between_(ordinals.first(1), processes.transport()),
        process_begins_(static_cast<std::size_t>(between_.size()) + 1) {
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// The participants of all processes, and those of this process.
  ///@{
  int size() const { return between_.size() * local_count(); }
  int first_rank() const { return between_.first_rank() * local_count(); }
  int local_count() const { return local_.size(); }
  ///@}

  /// Allocates the memory for reductions of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    local_.prepare(count, element_bytes);
    between_.prepare(count, element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    local_.reduce(buffers, count, op, 0);
    between_.all_reduce(buffers.first(1), count, op);
    local_.broadcast(buffers, count, 0);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check_root(root);
    local_.reduce(buffers, count, op, 0);
    between_.reduce(buffers.first(1), count, op, root / local_count());
    if (is_here(root) && root % local_count() != 0) local_.broadcast(buffers, count, 0);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check_root(root);
    if (is_here(root)) local_.broadcast(buffers, count, root % local_count());
    between_.broadcast(buffers.first(1), count, root / local_count());
    if (!is_here(root)) local_.broadcast(buffers, count, 0);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check(begins);
    local_.reduce(buffers, begins.back(), op, 0);
    between_.reduce_scatter(buffers.first(1), std::span<const std::size_t>(process_begins_), op);
    const auto own = begins.subspan(static_cast<std::size_t>(first_rank()), buffers.size() + 1);
    std::array<T*, detail::max_ranks> parts;
    std::transform(buffers.begin(), buffers.end(), parts.begin(), [&](T* buffer) { return buffer + own.front(); });
    local_.broadcast(std::span<T* const>(parts.data(), buffers.size()), own.back() - own.front(), 0);
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(begins);
    local_.all_gather(
        buffers, begins.subspan(static_cast<std::size_t>(first_rank()), static_cast<std::size_t>(local_count()) + 1));
    between_.all_gather(buffers.first(1), std::span<const std::size_t>(process_begins_));
    local_.broadcast(buffers, begins.back(), 0);
  }
  ///@}

 private:
  bool is_here(int rank) const { return rank >= first_rank() && rank - first_rank() < local_count(); }

  void check_root(int root) const {
    if (root < 0 || root >= size())
      throw argument_error("collective: the root is rank " + std::to_string(root) + "; give one from 0 to " +
                           std::to_string(size() - 1) + ".");
  }
  /// Checks the boundaries and sets those of the processes' parts.
  void check(std::span<const std::size_t> begins) {
    if (begins.size() != static_cast<std::size_t>(size()) + 1 || !std::is_sorted(begins.begin(), begins.end()))
      throw argument_error(
          "collective: the boundaries of the parts must be ascending numbers, one more than there are participants in "
          "all processes; the part of rank r is [begins[r], begins[r + 1]).");
    for (std::size_t p = 0; p != process_begins_.size(); ++p)
      process_begins_[p] = begins[p * static_cast<std::size_t>(local_count())];
  }

  direct<Backend> local_;
  across_processes<Backend, summation::by_rank> between_;
  std::vector<std::size_t> process_begins_;  // boundaries of the processes' parts, in elements
};

}  // namespace parallel

namespace collective {

/// The engine for several places in each of several processes that sums over the places of each process first, and then
/// over the processes. It sends less between processes than `direct` and adds in another order. In one process it is
/// `direct`.
struct hierarchical {
  /// The name in output.
  static constexpr std::string_view name = "hierarchical";
  /// Bytes of workspace on each place for reducing `count` elements.
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
  /// The communicator of a backend's devices, in one process and across several.
  ///@{
  template <class Backend>
  using communicator = parallel::direct<Backend>;
  template <class Backend>
  using communicator_across = parallel::hierarchical<Backend>;
  ///@}
  /// Connects the devices of one process; the first one is rank 0.
  template <class Backend>
  communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  /// Connects the devices of a group's processes; ranks are ordered by process.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    return communicator_across<Backend>(ordinals, processes);
  }
};

}  // namespace collective
}  // namespace devplace
