// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/gradients.hpp>

namespace devplace::parallel::detail {

/// Collects pointers to element `first` of an arena on each place of a model. The replica's accessor `data` selects the
/// arena: gradient_data, parameter_data or buffer_data.
template <class T> class arena_pointers {
 public:
  template <class S>
  arena_pointers(const runtime::model_state<S>& state, T* (runtime::replica<S>::*data)() const, std::size_t first = 0)
      : places_(state.replicas.size()) {
    for (std::size_t k = 0; k != places_; ++k) pointers_[k] = (state.replicas[k].*data)() + first;
  }
  std::span<T* const> span() const { return {pointers_, places_}; }

 private:
  T* pointers_[max_ranks];
  std::size_t places_;
};

}  // namespace devplace::parallel::detail

namespace devplace::parallel::inline DEVPLACE_CONFIGURATION {

/// Copies the first place's buffers to the others.
template <class Net, class Communicator, class S>
void broadcast_buffers(Communicator& communicator, const runtime::model_state<S>& state) {
  constexpr std::size_t buffers = runtime::network_plan<Net>::buffer_elements;
  if constexpr (buffers != 0)
    communicator.broadcast(detail::arena_pointers(state, &runtime::replica<S>::buffer_data).span(), buffers, 0);
}

/// Whether a communicator sends gradients in fewer bits; see parallel/wire.hpp.
template <class Communicator>
inline constexpr bool rounds_gradients = requires { typename Communicator::rounded_type; };

/// Copies the tail behind the gradients (runtime::gradient_tail) from participant `root` to the others.
template <class Net, class Communicator, class S>
void broadcast_sums(Communicator& communicator, const runtime::model_state<S>& state, int root) {
  communicator.broadcast(
      detail::arena_pointers(state, &runtime::replica<S>::gradient_data, runtime::network_plan<Net>::parameter_elements)
          .span(),
      runtime::gradient_tail, root);
}

/// Reduces over the replicas the sums that follow the gradients, if the gradients themselves are reduced in fewer bits.
template <class Net, class Policy, class Communicator, class S>
void reduce_sums(Communicator& communicator, const runtime::model_state<S>& state) {
  const detail::arena_pointers arenas(state, &runtime::replica<S>::gradient_data,
                                      runtime::network_plan<Net>::parameter_elements);
  if constexpr (Policy::every_place_updates)
    communicator.all_reduce(arenas.span(), runtime::gradient_tail, reduction::sum);
  else
    communicator.reduce(arenas.span(), runtime::gradient_tail, reduction::sum, 0);
}

/// Sums the gradient arenas of the replicas, including the sums that follow the gradients, bucket by bucket. The policy
/// says whether every place or only the first one gets the result. Copies the layers' buffers of the first place to the
/// others, because forward computes them from each place's own samples; nn.DataParallel and DistributedDataParallel do
/// this, too.
template <class Net, class Policy, class Communicator, class S>
void reduce_gradients(Communicator& communicator, const runtime::model_state<S>& state) {
  using wire = typename precision_traits<S>::wire;
  static_assert(std::is_same_v<wire, typename precision_traits<S>::gradient>,
                "devplace: gradients are reduced in the arena where backward writes them, in their own type.");
  using plan = detail::network_buckets<Net, wire, Policy>;
  for (std::size_t i = 0; i != plan::size; ++i) {
    const bucket b = plan::at(i);
    const detail::arena_pointers arenas(state, &runtime::replica<S>::gradient_data, b.first);
    if constexpr (rounds_gradients<Communicator>)
      communicator.reduce_rounded(arenas.span(), detail::gradients_of(b, i), Policy::every_place_updates);
    else if constexpr (Policy::every_place_updates)
      communicator.all_reduce(arenas.span(), b.count, reduction::sum);
    else
      communicator.reduce(arenas.span(), b.count, reduction::sum, 0);
  }
  if constexpr (rounds_gradients<Communicator>) reduce_sums<Net, Policy>(communicator, state);
  broadcast_buffers<Net>(communicator, state);
}

/// Replaces reduce_gradients for a policy that updates shares: each participant gets the sums of its share of each
/// bucket, and all participants get the sums that follow the gradients. Other gradients are unspecified afterwards.
template <class Net, class Policy, class Communicator, class S, class Shares>
void reduce_shares(Communicator& communicator, const runtime::model_state<S>& state, const Shares& shares) {
  using plan = detail::network_buckets<Net, typename precision_traits<S>::wire, Policy>;
  for (std::size_t i = 0; i != plan::size; ++i) {
    const detail::arena_pointers arenas(state, &runtime::replica<S>::gradient_data, plan::at(i).first);
    if constexpr (rounds_gradients<Communicator>) {
      communicator.reduce_scatter_rounded(arenas.span(), shares.of_parameters(i));
    } else {
      communicator.reduce_scatter(arenas.span(), shares.of_gradients(i), reduction::sum);
      if (i == 0) broadcast_sums<Net>(communicator, state, shares.owner_of_sums());
    }
  }
  if constexpr (rounds_gradients<Communicator>) reduce_sums<Net, Policy>(communicator, state);
  broadcast_buffers<Net>(communicator, state);
}

/// Copies each participant's shares of the parameters to the others.
template <class Net, class Policy, class Communicator, class S, class Shares>
void gather_shares(Communicator& communicator, const runtime::model_state<S>& state, const Shares& shares) {
  using plan = detail::network_buckets<Net, typename precision_traits<S>::wire, Policy>;
  for (std::size_t i = 0; i != plan::size; ++i)
    communicator.all_gather(
        detail::arena_pointers(state, &runtime::replica<S>::parameter_data, plan::at(i).first).span(),
        shares.of_parameters(i));
}

/// Whether a policy's engine can connect the places of a placement, in one process or in several.
template <class Policy, placement Where>
inline constexpr bool can_connect =
    !devplace::spans_processes<Where> || engine_spans_processes<typename Policy::engine_type> ||
    connects_processes<typename Policy::engine_type, placement_backend_t<Where>>;

/// Makes a policy's communicator for these devices. If `Across`, it connects the processes of this thread's
/// process_scope, unless the engine itself connects processes; `caller` begins a message about a missing scope. Throws
/// if the communicator's participants do not match the model's placement.
template <class Backend, bool Across, class Policy>
auto connect(const Policy& policy, std::span<const int> ordinals, const char* caller = "trainer") {
  auto communicator = [&] {
    if constexpr (Across && !engine_spans_processes<typename Policy::engine_type>)
      return policy.engine.template connect_across<Backend>(ordinals, current_processes(caller));
    else
      return policy.engine.template connect<Backend>(ordinals);
  }();
  detail::require_participants(communicator.size(), communicator.first_rank(), communicator.local_count(),
                               ordinals.size(), Across);
  return communicator;
}

/// Lets a communicator allocate its workspace before the first step.
template <class Net, class Policy, class T, class Communicator> void prepare_reductions(Communicator& communicator) {
  if constexpr (requires { communicator.prepare(std::size_t{}, sizeof(T)); })
    communicator.prepare(detail::network_buckets<Net, T, Policy>::largest, sizeof(T));
  if constexpr (rounds_gradients<Communicator>)  // all buckets, which may be in flight at the same time
    communicator.prepare_rounded(runtime::network_plan<Net>::parameter_elements);
}

/// Copies the first place's trained parameters, or all parameters if `All`, to the other places.
template <class Net, bool All = false, class Communicator, class S>
void broadcast_parameters(Communicator& communicator, const runtime::model_state<S>& state) {
  using plan = runtime::network_plan<Net>;
  communicator.broadcast(detail::arena_pointers(state, &runtime::replica<S>::parameter_data).span(),
                         All ? plan::arena_elements : plan::parameter_elements, 0);
}

/// Reduces the gradients so that every place has the sum under any policy.
template <class Net, class Policy, class Backend, bool Across, class S>
void make_whole(const Policy& policy, const runtime::model_state<S>& state) {
  auto communicator = connect<Backend, Across>(policy, state.ordinals);
  reduce_gradients<Net, Policy>(communicator, state);
  if constexpr (!Policy::every_place_updates) {
    using plan = detail::network_buckets<Net, typename precision_traits<S>::wire, Policy>;
    for (std::size_t i = 0; i != plan::size; ++i)
      communicator.broadcast(
          detail::arena_pointers(state, &runtime::replica<S>::gradient_data, plan::at(i).first).span(),
          plan::at(i).count, 0);
  }
}

}  // namespace devplace::parallel::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reduces the gradients of a batch by `Policy`: turns partial gradients over several places into replicated ones.
/// Returns gradients on one place unchanged, so that generic code has one line for all placements. Under
/// `collective::scatter_gather` the sums are computed on the first place and broadcast. Replaces layers' buffers by
/// those of the first place. Across processes, all processes of this thread's process_scope call it. Asynchronous in
/// one process. Each call makes the policy's communicator again; a trainer keeps its communicator.
template <class Policy = collective::all_reduce<>, class Net, placement Where, class P>
[[nodiscard]] auto synchronize(gradients<Net, Where, P>&& partial, const Policy& policy = {}) {
  constexpr bool is_partial = single_place<Where> || std::is_same_v<detail::kind_of<Where>, summands<reduction::sum>>;
  static_assert(is_partial,
                "devplace: synchronize: these gradients are whole, and reducing them again would multiply them by the "
                "number of places; pass them to the step.");
  constexpr bool is_policy = collective_policy<Policy, placement_backend_t<Where>, typename precision_traits<P>::wire>;
  static_assert(is_policy,
                "devplace: synchronize: this type is not a collective policy; use collective::all_reduce<> or "
                "collective::scatter_gather, or see parallel/policy.hpp for the requirements.");
  constexpr bool connects = !is_policy || parallel::can_connect<Policy, Where>;
  static_assert(connects,
                "devplace: synchronize: the gradients lie across processes, and the policy's engine connects the "
                "places of one process; use collective::direct or collective::ring, or give an engine with "
                "spans_processes = true, whose communicator knows this process's rank.");
  if constexpr (single_place<Where>) {
    return std::move(partial);
  } else {
    if constexpr (is_partial && is_policy && connects)
      parallel::make_whole<Net, Policy, placement_backend_t<Where>, spans_processes<Where>>(policy, partial.arena());
    return runtime::gradient_access::as<detail::with_kind_t<Where, copies>>(std::move(partial));
  }
}

/// Fails to compile with a message about valid arguments. If it were deleted, compilers would list all overloads.
template <class Policy = collective::all_reduce<>, class Other> auto synchronize(const Other&, const Policy& = {}) {
  static_assert(detail::accepted<Other>,
                "devplace: synchronize consumes the gradients that backward returned: "
                "synchronize(model.backward(std::move(saved), gradient)) or synchronize(std::move(gradients)); "
                "synchronize<cuda<0>>() waits for a place.");
  return detail::refusal{};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
