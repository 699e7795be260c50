// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/bucket_reduction.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/sharded_state.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/connection.hpp>

namespace devplace::train::detail {

/// The communicator of a trainer of a model in shares. It gathers the parameters of a unit before the unit's layers
/// run, and reduces and scatters the unit's gradients after its backward pass.
template <class Net, stores_shares Where, class P, class Policy> class connection<Net, Where, P, Policy> {
  using roles = precision_traits<P>;
  using backend_type = placement_backend_t<Where>;
  using state_type = parallel::sharded_state<Net, Where, P>;
  static constexpr std::size_t places = local_place_count<Where>;
  static constexpr bool connects = parallel::can_connect<Policy, Where>;
  static_assert(connects,
                "devplace: trainer: the model lies across processes, and the policy's engine connects the places of "
                "one process; use collective::direct or collective::ring, or give an engine with spans_processes = "
                "true whose communicator knows this process's rank: collective::gather_units<my_engine>{...}.");
  static constexpr bool connects_groups =
      !state_type::axes::in_groups || !parallel::engine_spans_processes<typename Policy::engine_type>;
  static_assert(connects_groups,
                "devplace: trainer: the mesh divides the processes into groups, and the policy's engine connects all "
                "of them itself; give an engine that connects the processes of a process_scope, such as "
                "collective::direct.");

 public:
  using units = typename state_type::units;
  using updaters = optim::on_shares<units::size>;
  static constexpr bool updates_shares = true, joins_passes = true;
  static consteval bool only_enqueues() {
    using replicas_type = typename communicators<>::replicas_type;
    return parallel::only_enqueues<communicator_type<>> &&
           (!axes::has_replicas || parallel::only_enqueues<replicas_type>);
  }

  template <class Given> DEVPLACE_CONFIGURED explicit connection([[maybe_unused]] const Given& policy) {
    if constexpr (connects && std::is_same_v<Given, Policy>)
      axes_ = std::make_shared<communicators<>>(policy, "trainer");
  }

  template <class Optimizer> DEVPLACE_CONFIGURED Optimizer optimizer(const auto& m, const auto& rule) const {
    const state_type& state = m.state();
    return Optimizer(m, rule, [&](std::size_t k, std::size_t u) {
      const parallel::share_of_unit share = state.shares.trained_share(u, state.rank_of(k));
      return optim::share{share.whole.first, share.whole.count, share.at};
    });
  }

  static constexpr bool host_waits() {
    return !requires { requires communicator_type<>::is_nonblocking; };
  }
  DEVPLACE_CONFIGURED devplace::participants participants() const {
    const auto along = [](const auto& axis) {
      return devplace::participants{static_cast<std::size_t>(axis.first_rank()), static_cast<std::size_t>(axis.size())};
    };
    const auto [first, count] = along(communicator());
    if constexpr (axes::has_replicas)
      return {along(replicas()).first * count + first, along(replicas()).count * count};
    else
      return {first, count};
  }
  static constexpr std::size_t updating_places() { return places; }

  DEVPLACE_CONFIGURED void prepare() {
    const auto prepare_axis = [](auto& axis, std::size_t gradients_of_unit) {
      constexpr std::size_t integers = runtime::network_plan<Net>::reduction_integers;
      if constexpr (requires { axis.prepare(std::size_t{}, std::size_t{}); }) {
        axis.prepare(std::max(gradients_of_unit, runtime::gradient_tail), sizeof(typename roles::wire));
        if constexpr (integers != 0) axis.prepare(integers, sizeof(std::int64_t));
      }
    };
    prepare_axis(communicator(), units::largest_trained);
    if constexpr (axes::has_replicas)
      prepare_axis(replicas(),
                   parallel::share_begin(units::largest_trained, static_cast<std::size_t>(communicator().size()), 1));
    if constexpr (parallel::rounds_gradients<communicator_type<>>)
      communicator().prepare_rounded(units::largest_trained);
  }

  /// Gradients are reduced unit by unit, between the layers of the backward pass.
  static parallel::no_bucket_reduction during_backward(const state_type&, bool) { return {}; }

  /// The exchanges of joint_passes.
  ///@{
  static constexpr bool adds_in_place = false;
  /// Whether gradients of a unit are given while the next unit computes.
  DEVPLACE_CONFIGURED static constexpr bool gives_later() { return overlaps(); }
  DEVPLACE_CONFIGURED void fetch(state_type& state, std::size_t u) { state.fetch(communicator(), u); }
  DEVPLACE_CONFIGURED static void enter(const state_type& state, runtime::pass<P>& p, std::size_t k, std::size_t u) {
    state.enter(p, k, u);
  }
  static auto* gradients(const state_type& state, std::size_t k, std::size_t u) { return state.gradients(k, u); }
  DEVPLACE_CONFIGURED static void begin_gradients(const state_type& state, const runtime::pass<P>& p, std::size_t k,
                                                  std::size_t u, bool) {
    if (p.batch == 0 || units::size != 1) state.clear_gradients(k, u);  // also what lies between parameters
  }
  DEVPLACE_CONFIGURED void give(state_type& state, std::size_t u, bool add) {
    state.reduce(communicator(), u);
    state.reduce_replicas(replicas(), u);
    state.keep_gradients(u, add);
  }
  /// Start to fetch unit `next` and to give unit `last`, concurrently with the work that is enqueued before finish().
  ///@{
  DEVPLACE_CONFIGURED void start(state_type& state, std::size_t next, std::size_t last) {
    if constexpr (overlaps()) {
      if (!std::exchange(prepared_, true)) prepare();
      if (next != parallel::no_unit) state.start_fetch(communicator(), next);
      if (last != parallel::no_unit) state.start_reduce(communicator(), last);
    }
  }
  DEVPLACE_CONFIGURED void finish(state_type& state, std::size_t next, std::size_t last, bool add) {
    if constexpr (overlaps()) {
      communicator().finish();
      if (last == parallel::no_unit) return;
      state.reduce_replicas(replicas(), last);
      state.keep_gradients(last, add);
    } else {
      if (last != parallel::no_unit) give(state, last, add);
      if (next != parallel::no_unit) fetch(state, next);
    }
  }
  DEVPLACE_CONFIGURED void abandon() noexcept {
    if constexpr (overlaps()) communicator().abandon();
  }
  static runtime::row_exchange* rows(std::size_t) { return nullptr; }
  ///@}
  DEVPLACE_CONFIGURED void reduce(const std::array<runtime::reduction_request, places>& requests) {
    if constexpr (runtime::network_plan<Net>::reductions_per_pass != 0)
      require_integers_of_layers<reduces_integers()>();
    if (requests[0].numbers == nullptr) return;
    std::array<std::int64_t*, places> numbers;
    for (std::size_t k = 0; k != places; ++k) numbers[k] = requests[k].numbers;
    reduce(std::span<std::int64_t* const>(numbers), requests[0].count, requests[0].op);
    if constexpr (axes::has_replicas)
      replicas().all_reduce(std::span<std::int64_t* const>(numbers), requests[0].count, requests[0].op);
  }
  ///@}
  /// Reduces numbers over the places of one replica of the model, which together have all gradients.
  DEVPLACE_CONFIGURED void reduce(std::span<std::int64_t* const> numbers, std::size_t count, reduction op) {
    if constexpr (reduces_integers()) communicator().all_reduce(numbers, count, op);
  }
  static constexpr void require_norms() { require_integers_of_norms<reduces_integers()>(); }
  /// Calls f(k, 0, part) for the trained parameters of this process's places k.
  void for_each_part(const state_type& state, const auto& f) const {
    for (std::size_t k = 0; k != places; ++k) f(k, std::size_t{0}, parallel::bucket{0, state.replicas[k].trained});
  }

  /// Sums what follows the gradients over all places, and copies the first place's buffers to the others.
  DEVPLACE_CONFIGURED void reduce(state_type& state, const parallel::no_bucket_reduction&) {
    using gradient = typename roles::gradient;
    std::array<gradient*, places> tails;
    for (std::size_t k = 0; k != places; ++k) tails[k] = state.replicas[k].tail();
    communicator().all_reduce(std::span<gradient* const>(tails), runtime::gradient_tail, reduction::sum);
    if constexpr (axes::has_replicas) {
      replicas().all_reduce(std::span<gradient* const>(tails), runtime::gradient_tail, reduction::sum);
      parallel::broadcast_buffers<Net>(replicas(), state);
    }
    parallel::broadcast_buffers<Net>(communicator(), state);
  }
  /// Each place has updated its own share of everything, also the loss scale.
  ///@{
  static void send_updates(const state_type&) {}
  template <class Memory> static void send_scale(const Memory&) {}
  ///@}

 private:
  using axes = typename state_type::axes;
  template <class P1 = Policy> using communicators = parallel::mesh_communicators<Where, P1>;
  template <class P1 = Policy> using communicator_type = typename communicators<P1>::shares_type;
  /// Whether collectives run beside the passes: there is memory for two units, and no layer makes collectives
  /// meanwhile.
  DEVPLACE_CONFIGURED static constexpr bool overlaps() {
    using communicator = communicator_type<>;
    using gradient = typename roles::gradient;
    if constexpr (units::gradient_slots == 2 && runtime::network_plan<Net>::reductions_per_pass == 0 &&
                  parallel::overlapping_communicator<communicator, gradient> &&
                  !parallel::rounds_gradients<communicator>)
      return requires(communicator& c, std::span<gradient* const> buffers, std::span<const std::size_t> begins) {
        c.start_all_gather(buffers, begins);
      };
    else
      return false;
  }
  static constexpr bool reduces_integers() {
    return requires(communicator_type<>& c, std::span<std::int64_t* const> numbers) {
      c.all_reduce(numbers, std::size_t{1}, reduction::sum);
    };
  }
  auto& communicator() const { return static_cast<communicators<>*>(axes_.get())->shares; }
  auto& replicas() const { return static_cast<communicators<>*>(axes_.get())->replicas; }

  std::shared_ptr<void> axes_;  // its type depends on the configuration
  bool prepared_ = false;       ///< whether memory for collectives beside the passes was allocated
};

}  // namespace devplace::train::detail
