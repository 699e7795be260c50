// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/sharded_arenas.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/model_state.hpp>

namespace devplace::parallel {

namespace detail {

/// Returns where an arena would begin whose element `first` lies at `at`. Passes compute addresses of elements from the
/// begin of an arena, and read only elements of a unit, which lies at `at`.
template <class T> T* begin_of_arena(T* at, std::size_t first) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(at) - first * sizeof(T));
}

template <class T> struct add_functor {
  T* to;
  const T* from;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] += from[i]; }
};

}  // namespace detail

/// The state of a model in shares: its arenas, and on each place slots for the gathered parameters of units and, in
/// training, for their gradients. `Communicator`s connect the places along the axes of the mesh; all processes make the
/// same calls.
template <class Net, stores_shares Where, class P> struct sharded_state : sharded_arenas<Net, Where, P> {
  /// The types of the arenas, and of gathered parameters and their gradients.
  ///@{
  using base = sharded_arenas<Net, Where, P>;
  using typename base::axes;
  using typename base::backend_type;
  using typename base::parameter;
  using typename base::replica_type;
  using typename base::roles;
  using typename base::units;
  using working = typename roles::working;
  using gradient = typename roles::gradient;
  ///@}
  using base::ordinal;
  using base::places;
  using base::rank_of;
  using base::shares;

  /// Allocates shares and slots of zeros. All processes call it in their process_scope.
  DEVPLACE_CONFIGURED sharded_state() {
    for (std::size_t k = 0; k != places; ++k)
      runtime::assign_zeros<working, backend_type>(gathered_[k], ordinal(k), units::in_slots.all + units::most_behind,
                                                   memory_purpose::parameters);
    if constexpr (units::in_slots.masters != 0) {
      for (std::size_t k = 0; k != places; ++k)
        runtime::assign_zeros<parameter, backend_type>(masters_[k], ordinal(k), units::in_slots.masters,
                                                       memory_purpose::parameters);
      units::visit_masters([&](std::size_t u, std::size_t first, std::size_t count) { add_masters(u, first, count); });
    }
  }

  /// Allocates the gradients of the shares and of the units, at the first use in training.
  DEVPLACE_CONFIGURED void require_gradients() {
    for (std::size_t k = 0; k != places; ++k)
      if (gradients_[k].data() == nullptr)
        runtime::assign_zeros<gradient, backend_type>(gradients_[k], ordinal(k), units::in_slots.trained,
                                                      memory_purpose::gradients);
    runtime::require_gradients<backend_type>(*this);
  }

  /// Gathers the parameters of unit `u` on all places. All processes call it.
  template <class Communicator> DEVPLACE_CONFIGURED void fetch(Communicator& by, std::size_t u) {
    for_each_gather(u, [&](auto buffers, std::span<const std::size_t> begins) { by.all_gather(buffers, begins); });
  }
  /// Starts to gather the parameters of unit `u`, concurrently with later work of the places.
  template <class Communicator> DEVPLACE_CONFIGURED void start_fetch(Communicator& by, std::size_t u) {
    for_each_gather(u, [&](auto buffers, std::span<const std::size_t> begins) {
      for (std::size_t k = 0; k != places; ++k) by.mark_ready(k);
      by.start_all_gather(buffers, begins);
    });
  }

  /// Sets the addresses of place k's pass to the gathered parameters of unit `u`. What lies behind the rows of a layer
  /// in slices is copied, because the next slice takes its place.
  template <class Pass> DEVPLACE_CONFIGURED void enter(Pass& p, std::size_t k, std::size_t u) const {
    const unit at = units::at(u);
    p.parameters = detail::begin_of_arena(gathered_data(k, u), at.trained.first);
    if constexpr (!replica_type::has_working_copy)
      p.master_parameters = p.parameters;
    else if constexpr (units::in_slots.masters != 0)
      p.master_parameters = detail::begin_of_arena(master_data(k, u), at.trained.first + at.masters.first);
    p.frozen =
        static_cast<std::ptrdiff_t>(at.trained.first + at.trained.count) - static_cast<std::ptrdiff_t>(at.frozen.first);
    p.links = at.links;
    if constexpr (units::has_slices) {
      working* const behind = static_cast<working*>(gathered_[k].data()) + units::in_slots.all;
      if (at.behind != 0)
        devplace::detail::copy_within<backend_type>(
            ordinal(k), behind, gathered_data(k, u) + at.trained.count + at.frozen.count - at.behind,
            at.behind * sizeof(working));
      p.rows = at.rows;
      p.behind_rows = behind;
    }
  }
  /// Returns the begin of the arena of place k's gradients for a backward pass through unit `u`.
  gradient* gradients(std::size_t k, std::size_t u) const {
    return detail::begin_of_arena(gradient_data(k, u), units::at(u).trained.first);
  }
  /// Sets place k's gradients of unit `u` to zero, and the padding between them.
  DEVPLACE_CONFIGURED void clear_gradients(std::size_t k, std::size_t u) const {
    runtime::set_to_zero<backend_type>(ordinal(k), gradient_data(k, u), units::at(u).trained.count);
  }

  /// Sums the gradients of unit `u` over all places, in the places' shares of the unit. All processes call it.
  template <class Communicator> DEVPLACE_CONFIGURED void reduce(Communicator& by, std::size_t u) {
    const auto begins = shares.trained_begins(u);
    if (begins.back() == 0) return;
    if constexpr (rounds_gradients<Communicator>)
      by.reduce_scatter_rounded(std::span<gradient* const>(gradients_of(u)), begins);
    else
      by.reduce_scatter(std::span<gradient* const>(gradients_of(u)), begins, reduction::sum);
  }
  /// Starts reduce(), concurrently with later work of the places.
  template <class Communicator> DEVPLACE_CONFIGURED void start_reduce(Communicator& by, std::size_t u) {
    const auto begins = shares.trained_begins(u);
    if (begins.back() == 0) return;
    for (std::size_t k = 0; k != places; ++k) by.mark_ready(k);
    by.start_reduce_scatter(std::span<gradient* const>(gradients_of(u)), begins, reduction::sum);
  }
  /// Adds the sums of reduce() over the places that have the same share.
  template <class Communicator> DEVPLACE_CONFIGURED void reduce_replicas(Communicator& by, std::size_t u) {
    if constexpr (axes::has_replicas) {
      std::array<gradient*, places> buffers = gradients_of(u);
      const auto begins = shares.trained_begins(u);
      for (std::size_t k = 0; k != places; ++k) buffers[k] += begins[rank_of(k)];
      for (std::size_t k = 0; k != axes::shares; ++k)
        by.all_reduce(k, std::span<gradient* const>(buffers), begins[rank_of(k) + 1] - begins[rank_of(k)],
                      reduction::sum);
    }
  }
  /// Stores the reduced gradients of unit `u` in the places' arenas, or adds them to the stored ones.
  DEVPLACE_CONFIGURED void keep_gradients(std::size_t u, bool add) const {
    for (std::size_t k = 0; k != places; ++k) {
      const share_of_unit share = shares.trained_share(u, rank_of(k));
      gradient* const to = this->replicas[k].gradient_data() + share.at;
      const gradient* const from = gradient_data(k, u) + shares.trained_begins(u)[rank_of(k)];
      if (add)
        devplace::detail::for_each_index<backend_type>(ordinal(k), share.whole.count, 4096,
                                                       detail::add_functor<gradient>{to, from});
      else
        devplace::detail::copy_within<backend_type>(ordinal(k), to, from, share.whole.count * sizeof(gradient));
    }
  }

 private:
  using blocks = std::array<devplace::detail::memory_block, places>;

  /// Parameters of a layer that reads them in the optimizer's type.
  struct masters {
    std::size_t first;  ///< the first one, in the gathered unit
    bool trained;
    std::vector<std::size_t> begins;  ///< the boundaries of the places' shares, counted from `first` on
  };
  void add_masters(std::size_t u, std::size_t first, std::size_t count) {
    const std::size_t trained = units::at(u).trained.count;
    const bool is_trained = first < trained;
    masters& part = master_parts_[u].emplace_back(masters{first, is_trained, {}});
    const std::size_t from = is_trained ? first : first - trained;
    for (const std::size_t begin : is_trained ? shares.trained_begins(u) : shares.frozen_begins(u))
      part.begins.push_back(std::clamp(begin, from, from + count) - from);
  }

  working* gathered_data(std::size_t k, std::size_t u) const {
    return static_cast<working*>(gathered_[k].data()) + units::begins_of_slots[u].all;
  }
  parameter* master_data(std::size_t k, std::size_t u) const {
    return static_cast<parameter*>(masters_[k].data()) + units::begins_of_slots[u].masters;
  }
  gradient* gradient_data(std::size_t k, std::size_t u) const {
    return static_cast<gradient*>(gradients_[k].data()) + units::begins_of_slots[u].trained;
  }
  std::array<gradient*, places> gradients_of(std::size_t u) const {
    std::array<gradient*, places> buffers;
    for (std::size_t k = 0; k != places; ++k) buffers[k] = gradient_data(k, u);
    return buffers;
  }

  /// Copies the places' shares of unit `u` to the unit's slot; calls f(buffers, begins) for each part to be gathered.
  void for_each_gather(std::size_t u, const auto& f) {
    const unit at = units::at(u);
    gather_part(u, shares.trained_begins(u), 0, [&](std::size_t rank) { return shares.trained_share(u, rank); }, f);
    gather_part(
        u, shares.frozen_begins(u), at.trained.count, [&](std::size_t rank) { return shares.frozen_share(u, rank); },
        f);
    for (const masters& part : master_parts_[u]) gather_masters(u, part, f);
  }
  /// For a part of a unit, which begins at element `first` of the gathered unit.
  void gather_part(std::size_t u, std::span<const std::size_t> begins, std::size_t first, const auto& share_of,
                   const auto& f) {
    if (begins.back() == 0) return;
    std::array<working*, places> buffers;
    for (std::size_t k = 0; k != places; ++k) {
      const share_of_unit share = share_of(rank_of(k));
      buffers[k] = gathered_data(k, u) + first;
      devplace::detail::copy_within<backend_type>(ordinal(k), buffers[k] + begins[rank_of(k)],
                                                  this->replicas[k].working_data() + share.at,
                                                  share.whole.count * sizeof(working));
    }
    f(std::span<working* const>(buffers), begins);
  }
  void gather_masters(std::size_t u, const masters& part, const auto& f) {
    const unit at = units::at(u);
    const auto begins_of_unit = part.trained ? shares.trained_begins(u) : shares.frozen_begins(u);
    const std::size_t first_of_layer = part.first - (part.trained ? 0 : at.trained.count);
    std::array<parameter*, places> buffers;
    for (std::size_t k = 0; k != places; ++k) {
      const std::size_t rank = rank_of(k), begin = part.begins[rank], count = part.begins[rank + 1] - begin;
      const share_of_unit share = part.trained ? shares.trained_share(u, rank) : shares.frozen_share(u, rank);
      buffers[k] = master_data(k, u) + (part.first - at.masters.first);
      if (count != 0)
        devplace::detail::copy_within<backend_type>(
            ordinal(k), buffers[k] + begin,
            this->replicas[k].parameter_data() + share.at + (first_of_layer + begin - begins_of_unit[rank]),
            count * sizeof(parameter));
    }
    f(std::span<parameter* const>(buffers), std::span<const std::size_t>(part.begins.data(), part.begins.size()));
  }

  blocks gathered_;   ///< parameters of the units in slots, and those behind the rows of a layer in slices
  blocks masters_;    ///< their masters (unit::masters)
  blocks gradients_;  ///< their gradients
  std::array<std::vector<masters>, units::size> master_parts_;
};

}  // namespace devplace::parallel
