// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/parallel/across_processes.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel {

/// A communicator that reduces in two levels: first over the places within each process, then over the first places of
/// all processes. For buffers of S bytes each process receives about 2 S bytes; with across_processes it receives 2 S
/// bytes for each of its places.
///
/// With two places in each process a sum is (g0 + g1) + (g2 + g3): the bits depend on the number of places in each
/// process, not on threads or buckets. With one place in each process the bits are those of `direct`. Buckets are
/// reduced after the backward pass.
template <class Backend> class hierarchical : public detail::participants {
 public:
  /// Connects these devices of this process with as many devices of each other process of the group.
  hierarchical(std::span<const int> ordinals, const process_group& processes) try
      : participants(processes.transport()->ranks(), ordinals.size()),
        local_(ordinals),
        between_(ordinals.first(1), processes),
        process_begins_(index(between_.size()) + 1) {
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// Allocates the memory for reductions of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    local_.prepare(count, element_bytes);
    between_.prepare(count, element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    local_.reduce(buffers, count, op, 0);
    between_.all_reduce(buffers.first(1), count, op);
    local_.broadcast(buffers, count, 0);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check(root);
    local_.reduce(buffers, count, op, 0);
    between_.reduce(buffers.first(1), count, op, process_of(root));
    if (is_here(root) && root % local_count() != 0) local_.broadcast(buffers, count, 0);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(root, buffers.size());
    if (is_here(root)) local_.broadcast(buffers, count, root % local_count());
    between_.broadcast(buffers.first(1), count, process_of(root));
    if (!is_here(root)) local_.broadcast(buffers, count, 0);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    const std::span<const std::size_t> process_begins = divided(begins);
    local_.reduce(buffers, begins.back(), op, 0);
    between_.reduce_scatter(buffers.first(1), process_begins, op);
    const auto own = begins.subspan(index(first_rank()), buffers.size() + 1);
    local_.broadcast(buffers, detail::element_range{own.front(), own.back()}, 0);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    const std::span<const std::size_t> process_begins = divided(begins);
    local_.all_gather(buffers, begins.subspan(index(first_rank()), index(local_count()) + 1));
    between_.all_gather(buffers.first(1), process_begins);
    local_.broadcast(buffers, detail::element_range{begins.front(), begins.back()}, 0);
  }
  ///@}

 private:
  /// Checks the boundaries of the participants' parts and returns those of the processes' parts.
  std::span<const std::size_t> divided(std::span<const std::size_t> begins) {
    check(begins);
    for (std::size_t p = 0; p != process_begins_.size(); ++p) process_begins_[p] = begins[p * index(local_count())];
    return {process_begins_.data(), process_begins_.size()};
  }

  direct<Backend> local_;
  across_by_rank<Backend> between_;
  std::vector<std::size_t> process_begins_;  // boundaries of the processes' parts, in elements
};

}  // namespace devplace::parallel

namespace devplace::collective {

/// The engine that sums over the places of each process first, and then over the processes. It sends less between
/// processes than `direct` and adds in another order. In one process it is `direct`.
struct hierarchical : engine_base<parallel::direct, parallel::hierarchical> {
  /// The name in output.
  static constexpr std::string_view name = "hierarchical";
};

}  // namespace devplace::collective
