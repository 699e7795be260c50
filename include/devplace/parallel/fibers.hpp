// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/mesh.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel {

/// Communicators along one axis of a mesh of this process's places: one for each fiber, that is for the places that
/// differ in this axis alone. Fiber i has the places i * `Next`, i * `Next` + `Stride` and so on, `Length` in number.
/// Members take the buffers of all places. If `Across`, the axis continues in the other processes of the process_scope.
template <class Backend, bool Across, std::size_t Fibers, std::size_t Length, std::size_t Next, std::size_t Stride,
          class Policy>
class fibers {
  using communicator_type =
      decltype(connect<Backend, Across>(std::declval<const Policy&>(), std::span<const int>(), ""));
  template <class T> using pointers = std::array<T*, Length>;
  static constexpr bool rounds = rounds_gradients<communicator_type>;
  static_assert(!rounds,
                "devplace: trainer: collective::wire rounds the gradients of models whose places are all along one "
                "axis; on a mesh of replicas and shares choose another engine.");

 public:
  /// Whether the host does not wait for the devices.
  static constexpr bool is_nonblocking = requires { requires communicator_type::is_nonblocking; };
  /// Whether collectives only enqueue work.
  static constexpr bool only_enqueues = parallel::only_enqueues<communicator_type>;

  /// Connects the places; `ordinals` are those of all places.
  fibers(const Policy& policy, std::span<const int> ordinals, const char* caller) {
    for (std::size_t i = 0; i != Fibers; ++i) {
      std::array<int, Length> own;
      for (std::size_t j = 0; j != Length; ++j) own[j] = ordinals[place(i, j)];
      communicators_.push_back(connect<Backend, Across>(policy, own, caller));
    }
  }

  /// Number of participants of each fiber, and the first one in this process.
  ///@{
  int size() const { return communicators_[0].size(); }
  int first_rank() const { return communicators_[0].first_rank(); }
  ///@}

  /// Collectives on each fiber.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    for (std::size_t i = 0; i != Fibers; ++i) all_reduce(i, buffers, count, op);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    for (std::size_t i = 0; i != Fibers; ++i)
      communicators_[i].broadcast(std::span<T* const>(of(i, buffers)), count, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    for (std::size_t i = 0; i != Fibers; ++i)
      communicators_[i].reduce_scatter(std::span<T* const>(of(i, buffers)), begins, op);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    for (std::size_t i = 0; i != Fibers; ++i) communicators_[i].all_gather(std::span<T* const>(of(i, buffers)), begins);
  }
  ///@}
  /// A collective on fiber `i`.
  template <class T> void all_reduce(std::size_t i, std::span<T* const> buffers, std::size_t count, reduction op) {
    communicators_[i].all_reduce(std::span<T* const>(of(i, buffers)), count, op);
  }
  /// Allocates the memory for reductions of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    if constexpr (requires { communicators_[0].prepare(count, element_bytes); })
      for (auto& communicator : communicators_) communicator.prepare(count, element_bytes);
  }

 private:
  /// Returns the place of index `j` on fiber `i`.
  static constexpr std::size_t place(std::size_t i, std::size_t j) { return i * Next + j * Stride; }
  template <class T> static pointers<T> of(std::size_t i, std::span<T* const> buffers) {
    pointers<T> own;
    for (std::size_t j = 0; j != Length; ++j) own[j] = buffers[place(i, j)];
    return own;
  }

  std::vector<communicator_type> communicators_;
};

/// The axes of the mesh on which a model in shares lies: the places of this process along each axis.
template <stores_shares Where> struct mesh_axes {
  /// The backend of the places, and the kind of the placement.
  ///@{
  using backend_type = placement_backend_t<Where>;
  using kind = typename placement_traits<Where>::kind;
  ///@}
  /// Whether each process has one share; otherwise the places of a process have all shares.
  static constexpr bool shares_span = kind::count == dyn || kind::replicas == dyn;
  /// Numbers of places of this process along the axes.
  ///@{
  static constexpr std::size_t replicas = shares_span ? 1 : kind::replicas;
  static constexpr std::size_t shares = local_place_count<Where> / replicas;
  ///@}
  /// Whether processes have replicas of each other's shares.
  static constexpr bool replicas_span =
      devplace::spans_processes<Where> && !(kind::count == dyn && kind::replicas == 1);
  /// Whether several places have the same share.
  static constexpr bool has_replicas = replicas != 1 || replicas_span;
  /// Whether consecutive processes form groups that each have all shares.
  static constexpr bool in_groups = shares_span && replicas_span;

  /// The number of participants is a multiple of this one.
  static constexpr std::size_t least_participants = kind::count == dyn ? kind::replicas : kind::count;
  /// Number of shares of a model with this number of participants. Throws argument_error if the mesh does not fit it.
  static constexpr std::size_t share_count(std::size_t participants, const char* caller) {
    if (participants % least_participants != 0)
      throw argument_error({caller, ": ", placement_name<Where>(), " needs a multiple of ", least_participants,
                            " processes, and there are ", participants, "; start ",
                            participants + least_participants - participants % least_participants,
                            " processes, or name another mesh."});
    return kind::count == dyn ? participants / kind::replicas : kind::count;
  }

  /// Connect the places along an axis. All processes call it in their process_scope.
  ///@{
  template <class Policy> DEVPLACE_CONFIGURED static auto connect_shares(const Policy& policy, const char* caller) {
    return among<true>(caller, [&] {
      if constexpr (replicas == 1)
        return connect<backend_type, shares_span>(policy, devplace::detail::mesh_of<Where>::ordinals, caller);
      else
        return fibers<backend_type, false, replicas, shares, shares, 1, Policy>(
            policy, devplace::detail::mesh_of<Where>::ordinals, caller);
    });
  }
  template <class Policy> DEVPLACE_CONFIGURED static auto connect_replicas(const Policy& policy, const char* caller) {
    if constexpr (has_replicas)
      return among<false>(caller, [&] {
        return fibers<backend_type, replicas_span, shares, replicas, 1, shares, Policy>(
            policy, devplace::detail::mesh_of<Where>::ordinals, caller);
      });
    else
      return nothing{};
  }
  ///@}
  /// Stands for the communicator of an axis that is not there.
  struct nothing {};

 private:
  /// Calls connect() in the scope of the processes along an axis, if the processes lie along both.
  template <bool Shares, class F> static auto among(const char* caller, const F& connect) {
    if constexpr (in_groups) {
      const process_group all = current_processes(caller);
      const int group = static_cast<int>(share_count(static_cast<std::size_t>(all.size()), caller));
      const process_scope scope{all.split(Shares ? all.rank() / group : all.rank() % group)};
      return connect();
    } else {
      return connect();
    }
  }
};

inline namespace DEVPLACE_CONFIGURATION {

/// The communicators of all axes of the mesh on which a model in shares lies.
template <stores_shares Where, class Policy> struct mesh_communicators {
  /// The types of the communicators.
  ///@{
  using shares_type = decltype(mesh_axes<Where>::connect_shares(std::declval<const Policy&>(), ""));
  using replicas_type = decltype(mesh_axes<Where>::connect_replicas(std::declval<const Policy&>(), ""));
  ///@}
  shares_type shares;      ///< along the axis of shares
  replicas_type replicas;  ///< along the axis of replicas

  /// Connects the places. All processes call it in their process_scope.
  mesh_communicators(const Policy& policy, const char* caller)
      : shares(mesh_axes<Where>::connect_shares(policy, caller)),
        replicas(mesh_axes<Where>::connect_replicas(policy, caller)) {}
};

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace::parallel
