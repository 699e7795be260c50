// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include <devplace/parallel/across_processes.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace {

/// Policies for synchronising the replicas in a data-parallel step. They differ in traffic and memory, not in results.
namespace collective {

/// The base of devplace's engines. An engine makes the communicators of a backend's devices, in one process and across
/// several.
template <template <class> class Communicator, template <class> class CommunicatorAcross> struct engine_base {
  /// The communicator of devices in one process.
  template <class Backend> using communicator = Communicator<Backend>;
  /// The communicator of devices in several processes.
  template <class Backend> using communicator_across = CommunicatorAcross<Backend>;
  /// Bytes of workspace on each place for reducing `count` elements.
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
  /// Connects the devices of one process; the first one is rank 0.
  template <class Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  /// Connects the devices of a group's processes; ranks are ordered by process.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    return communicator_across<Backend>(ordinals, processes);
  }
};

/// The engine that sums in the order of the participants: every device sums its slice of the gradients over all
/// replicas. The bits do not depend on threads or buckets. Devices that cannot access each other's memory need a
/// workspace of up to 1 MiB for each other place, which memory plans do not count.
struct direct : engine_base<parallel::direct, parallel::across_by_rank> {
  /// The name in output.
  static constexpr std::string_view name = "direct";
};

/// The engine that passes chunks from neighbour to neighbour around a ring. Its order of summation differs from that of
/// `direct` and depends on the buckets. Across processes it adds in the ring's order, but the processes exchange parts
/// directly, which takes fewer steps than a ring and moves the same number of bytes.
struct ring : engine_base<parallel::ring, parallel::across_by_ring> {
  /// The name in output.
  static constexpr std::string_view name = "ring";
  /// Bytes of workspace on each place for reducing `count` elements: one chunk.
  static constexpr std::size_t workspace_bytes(std::size_t participants, std::size_t count, std::size_t element_bytes) {
    return parallel::share_begin(count, participants, 1) * element_bytes;
  }
};

/// Sizes of the buckets in which gradients are reduced: a bucket collects parameters from the last layer to the first
/// and is closed when it has at least `First` (the first bucket) or `Others` bytes. The defaults are those of
/// DistributedDataParallel; a model of less than 1 MiB is one bucket.
template <std::size_t First = (1 << 20), std::size_t Others = (25 << 20)> struct buckets {
  static_assert(First > 0 && Others > 0, "devplace: a bucket holds at least one byte; give sizes above 0.");
  /// The sizes in bytes at which buckets are closed.
  ///@{
  static constexpr std::size_t first_bytes = First;
  static constexpr std::size_t other_bytes = Others;
  ///@}
};

/// The scheme of DistributedDataParallel: every place gets the summed gradients and updates its own replica.
/// `all_reduce<>`, the default policy, sums in a fixed order.
template <class Engine = direct, class Buckets = buckets<>> struct all_reduce {
  /// The engine of the collectives, and their bucket sizes.
  ///@{
  using engine_type = Engine;
  using bucket_sizes = Buckets;
  ///@}
  /// Whether every place runs the optimizer and holds its state.
  static constexpr bool every_place_updates = true;
  /// The engine as a value, for engines with data members, such as a user's communicator.
  Engine engine = {};
};

/// The scheme of nn.DataParallel: sums the gradients on the first place, which alone runs the optimizer and holds its
/// state, and broadcasts the new parameters from there.
template <class Engine = direct, class Buckets = buckets<>> struct reduce_and_broadcast {
  /// The engine of the collectives, and their bucket sizes.
  ///@{
  using engine_type = Engine;
  using bucket_sizes = Buckets;
  ///@}
  /// Whether every place runs the optimizer: only the first one does.
  static constexpr bool every_place_updates = false;
  /// The engine as a value, for engines with data members, such as a user's communicator.
  Engine engine = {};
};

/// The scheme of ZeRO stage 1: every place gets the sums of its share of the gradients, holds the optimizer's state for
/// this share, and updates the share's parameters. It then gathers the other shares. Parameters have the same bits as
/// with `all_reduce` and the same engine, and the number of bytes moved is the same. Afterwards no place has all
/// gradients. Steps that clip also reduce three integers of the norm, so their communicator must reduce std::int64_t.
/// The optimizer's rule is called for each share, so it must be elementwise, as all of devplace's rules are.
template <class Engine = direct, class Buckets = buckets<>> struct sharded_all_reduce {
  /// The engine of the collectives, and their bucket sizes.
  ///@{
  using engine_type = Engine;
  using bucket_sizes = Buckets;
  ///@}
  /// Whether every place runs the optimizer.
  static constexpr bool every_place_updates = true;
  /// Whether each place updates only its share of the parameters.
  static constexpr bool updates_shares = true;
  /// The engine as a value, for engines with data members, such as a user's communicator.
  Engine engine = {};
};

/// The scheme of ZeRO stage 3 and of FSDP, and the only one of models in shares (fully_sharded): gathers the parameters
/// of one unit of layers at a time, before they compute, and sums their gradients after their backward pass into the
/// places' shares, which the places update. Parameters have the same bits as those of a replicated model with
/// `all_reduce` and the same engine; with `ring` if the units are the buckets.
template <class Engine = direct> struct gather_units {
  /// The engine of the collectives.
  using engine_type = Engine;
  /// Required of every policy; the model's placement divides the gradients into units instead.
  using bucket_sizes = buckets<>;
  /// Whether every place runs the optimizer.
  static constexpr bool every_place_updates = true;
  /// Whether each place updates only its share of the parameters.
  static constexpr bool updates_shares = true;
  /// Whether the policy is for models in shares.
  static constexpr bool gathers_units = true;
  /// The engine as a value, for engines with data members, such as a user's communicator.
  Engine engine = {};
};

/// Bytes of one gradient element sent between places under a policy, for gradients of type T.
template <class Policy, class T> inline constexpr std::size_t wire_bytes = sizeof(T);
/// For a policy that rounds gradients.
template <class Policy, class T>
  requires requires { typename Policy::engine_type::wire_type; }
inline constexpr std::size_t wire_bytes<Policy, T> = sizeof(typename Policy::engine_type::wire_type);

/// Bytes of workspace on each place that a policy's engine allocates across processes for reducing `count` elements:
/// none, unless the engine has a static member `workspace_bytes_across(count)`. Host memory is not included.
template <class Policy> constexpr std::size_t workspace_bytes_across([[maybe_unused]] std::size_t count) {
  using engine = typename Policy::engine_type;
  if constexpr (requires { engine::workspace_bytes_across(count); })
    return engine::workspace_bytes_across(count);
  else
    return 0;
}

/// Whether every place updates only its share of the parameters under a policy: true if the policy has a member
/// `static constexpr bool updates_shares = true`.
template <class Policy> inline constexpr bool updates_shares = requires { requires Policy::updates_shares; };

/// Whether a policy is for models in shares: true if it has a member `static constexpr bool gathers_units = true`.
template <class Policy> inline constexpr bool gathers_units = requires { requires Policy::gathers_units; };

/// The default policy of models on `Where`.
template <placement Where>
using default_policy_t = std::conditional_t<stores_shares<Where>, gather_units<>, all_reduce<>>;

/// `all_reduce` with the engine `ring`.
using ring_all_reduce = all_reduce<ring>;

/// The scheme of nn.DataParallel with the engine `direct`.
using scatter_gather = reduce_and_broadcast<>;

}  // namespace collective

/// A policy that `trainer` and `synchronize` accept for a model's places and elements. An engine may support the
/// devices of one backend only.
template <class P, class Backend = backend::cpu, class T = float>
concept collective_policy = requires(const P& policy, std::span<const int> ordinals) {
  { P::every_place_updates } -> std::convertible_to<bool>;
  { P::bucket_sizes::first_bytes } -> std::convertible_to<std::size_t>;
  { P::bucket_sizes::other_bytes } -> std::convertible_to<std::size_t>;
  { policy.engine.template connect<Backend>(ordinals) } -> parallel::communicator<T>;
};

}  // namespace devplace
