// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <devplace/base/error.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::parallel {

/// Executes collectives between participants: devices of this process (`direct`, `ring`), or of several processes.
/// Participants have ranks from 0; the participants of one process have consecutive ranks. A call takes one buffer per
/// participant of this process, in rank order. All buffers have the same number of elements.
///
/// Calls are asynchronous: on every rank's device a collective is ordered after the device's earlier work and before
/// its later work. All ranks make the same calls in the same order. The spans are not read after the call has returned,
/// but the buffers must exist until the devices have executed the collective. If a rank's device has failed before, all
/// devices fail and skip later work.
///
/// - `size()`: number of participants in all processes; `first_rank()`: rank of this process's first participant;
///   `local_count()`: number of this process's participants.
/// - `all_reduce(buffers, count, op)`: replaces every rank's elements by `op` over the ranks.
/// - `reduce(buffers, count, op, root)`: replaces the elements of rank `root` by `op` over the ranks; the elements
///   of the other ranks are unspecified afterwards.
/// - `broadcast(buffers, count, root)`: replaces every rank's elements by those of rank `root`.
/// - `reduce_scatter(buffers, begins, op)`: replaces the elements [`begins[r]`, `begins[r + 1]`) of each rank r by `op`
///   over the ranks; the other elements of rank r are unspecified afterwards. `begins` has size() + 1 ascending
///   numbers.
/// - `all_gather(buffers, begins)`: replaces the elements [`begins[r]`, `begins[r + 1]`) of every rank by those of rank
///   r.
/// - `prepare(count, element_bytes)`, optional: allocates the memory for reductions of up to `count` elements, so that
///   the reductions do not allocate.
/// - `only_enqueues`, optional: a static constant, true if collectives only enqueue kernels and copies by devplace's
///   functions, ordered by events: a trainer's graph may then contain them.
///
/// One thread at a time may use a communicator.
template <class C, class T = float>
concept communicator = requires(C& c, const C& fixed, std::span<T* const> buffers, std::span<const std::size_t> begins,
                                std::size_t count, reduction op, int root) {
  { fixed.size() } -> std::convertible_to<int>;
  { fixed.first_rank() } -> std::convertible_to<int>;
  { fixed.local_count() } -> std::convertible_to<int>;
  c.all_reduce(buffers, count, op);
  c.reduce(buffers, count, op, root);
  c.broadcast(buffers, count, root);
  c.reduce_scatter(buffers, begins, op);
  c.all_gather(buffers, begins);
};

/// Communicators whose reductions overlap with other work of the devices: a trainer starts the reduction of each bucket
/// of gradients during the backward pass. With other communicators a trainer reduces the buckets after the pass; the
/// results have the same bits. All ranks start the same collectives in the same order, which is also the order of
/// execution.
///
/// - `prepare(count, element_bytes)` is called before the first start.
/// - `mark_ready(k)`: records a mark: the point after all work enqueued so far by participant `k` of this process,
///   counted from 0. Asynchronous.
/// - `start_all_reduce(buffers, count, op)`, `start_reduce(buffers, count, op, root)`, `start_reduce_scatter(buffers,
///   begins, op)`: start the collective after the oldest unused mark of each participant of this process, and use up
///   these marks. They do not wait. Later work of the devices may run concurrently and must not use the buffers.
///   `begins` must exist until finish(). Blocking collectives still follow all earlier work of the devices, and may
///   discard marks.
/// - `start_all_gather(buffers, begins)`, optional: as above. Models in shares then gather the next unit's parameters
///   while a unit computes.
/// - `progress()`: advances started collectives on the host without waiting. Called between the layers of the backward
///   pass.
/// - `finish()`: orders the devices' later work after all started collectives and discards unused marks.
/// - `abandon()`, noexcept: replaces finish() after an exception. Cancels started collectives or orders them before the
///   devices' later work. A communicator across processes may be unusable afterwards.
template <class C, class T = float>
concept overlapping_communicator =
    communicator<C, T> && requires(C& c, std::span<T* const> buffers, std::span<const std::size_t> begins,
                                   std::size_t count, reduction op, std::size_t k, int root) {
      c.prepare(count, sizeof(T));
      c.mark_ready(k);
      c.start_all_reduce(buffers, count, op);
      c.start_reduce(buffers, count, op, root);
      c.start_reduce_scatter(buffers, begins, op);
      c.progress();
      c.finish();
      { c.abandon() } noexcept;
    };

/// Whether the collectives of a communicator may be part of a trainer's graph.
template <class C> inline constexpr bool only_enqueues = requires { requires C::only_enqueues; };

/// Whether an engine (parallel/policy.hpp) has communicators that connect several processes without a process_group:
/// true if the engine has a member `static constexpr bool spans_processes = true`.
template <class Engine> inline constexpr bool engine_spans_processes = requires { requires Engine::spans_processes; };
/// Whether an engine connects the processes of a process_scope: `connect_across<Backend>(ordinals, processes)`.
template <class Engine, class Backend>
inline constexpr bool connects_processes = requires { typename Engine::template communicator_across<Backend>; };

namespace detail {

/// Throws unless a communicator's participants match a placement with `places` places in this process.
inline void require_participants(int size, int first, int local, std::size_t places, bool across_processes) {
  const bool here = local > 0 && static_cast<std::size_t>(local) == places;
  if (here && first >= 0 && first <= size - local && (across_processes || size == local)) return;
  throw argument_error(
      {"the policy's communicator has ", size, " participants, ", local, " of them in this process from rank ", first,
       " on, and the model lies on ", places, " places of ", across_processes ? "each process" : "one process",
       "; give a communicator of these places, and a model on across<...> if several processes take part."});
}

}  // namespace detail

}  // namespace devplace::parallel
