// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>

#include <devplace/base/function_view.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/repeated_work.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/detail/distributed_access.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/accumulation.hpp>
#include <devplace/train/detail/checked_training.hpp>
#include <devplace/train/detail/connection.hpp>
#include <devplace/train/detail/equal_steps.hpp>
#include <devplace/train/detail/fingerprint_of_training.hpp>
#include <devplace/train/detail/gradient_norm.hpp>
#include <devplace/train/detail/joint_passes.hpp>
#include <devplace/train/detail/loss_scaler.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/detail/step_layout.hpp>
#include <devplace/train/step_loss.hpp>

namespace devplace::train::detail {

/// The step of a trainer: owns the memory of the steps on every place, runs the passes, and reduces, clips and updates.
template <class Net, class Where, class P, class Loss, class Rule, class Policy, std::size_t Batches> class training {
  static_assert(checked_training<Net, Where, P, Loss, Rule, Policy>());

 protected:
  using plan = runtime::network_plan<Net>;
  using input = typename model<Net, Where, P>::input_extents;
  using roles = precision_traits<P>;
  using T = typename roles::gradient;
  using state_type = typename model<Net, Where, P>::state_type;
  using backend_type = placement_backend_t<Where>;
  // The default policy replaces a rejected one, to avoid further errors.
  using policy_type = std::conditional_t<collective_policy<Policy, backend_type, typename roles::wire> &&
                                             collective::gathers_units<Policy> == stores_shares<Where>,
                                         Policy, collective::default_policy_t<Where>>;
  using connection_type = connection<Net, Where, P, policy_type>;
  static constexpr std::size_t places = local_place_count<Where>;
  static constexpr bool scales = scales_losses<P>;
  /// Whether the processes compare their trainings: processes of a process_scope do, processes of an engine such as MPI
  /// do not.
  static constexpr bool compares = parallel::can_connect<policy_type, Where> && spans_processes<Where> &&
                                   !parallel::engine_spans_processes<typename policy_type::engine_type>;
  /// Whether losses are read from the sums that the engine reduces with the gradients. The bits of a loss then depend
  /// on the total number of places, but not on the number of processes. A single place already has the sums of one
  /// batch.
  static constexpr bool takes_reduced_loss = spans_processes<Where> || places > 1 || Batches > 1;

  using model_type = model<Net, Where, P>;
  using loss_type = step_loss<typename roles::storage, Where>;
  using bound_loss = typename Loss::template bound<typename roles::accumulator>;
  using launches_type = devplace::detail::repeated_launches<backend_type>;
  using optimizer_type = devplace::optimizer<Rule, model_type, typename connection_type::updaters>;

  DEVPLACE_CONFIGURED training(model_type& m, const Loss& loss, const Rule& rule, const auto& policy)
      : state_(m.shared_state()),
        reduction_(loss.reduce),
        connection_(policy),
        optimizer_(connection_.template optimizer<optimizer_type>(m, rule)) {
    const runtime::sole_use use(*state_);
    if constexpr (stores_shares<Where>)
      state_->require_gradients();
    else
      runtime::require_gradients<backend_type>(*state_);
    for (std::size_t k = 0; k < places; ++k) {
      const int ordinal = replica(k).ordinal;
      losses_[k].emplace(loss.template bind<typename roles::accumulator, backend_type>(ordinal));
      memory_[k].scalars = devplace::detail::allocate<backend_type>(ordinal, scalar_bytes, memory_purpose::workspace);
    }
    if constexpr (compares) {
      processes_ = parallel::current_processes("trainer").transport();
      options_ = fingerprint_of_options<policy_type>(loss, Batches);
    }
    if constexpr (spans_processes<Where>) clear_difference<backend_type>(replica(0));
    if constexpr (scales && requires { loss.batchmean; }) scaling_.of_samples = loss.batchmean;
  }

  DEVPLACE_CONFIGURED loss_type step(const auto& samples, const auto& targets) {
    auto& state = own_state();
    const runtime::sole_use use(state);
    check_accumulation<backend_type>(state, accumulation_);
    optimizer_.validate();  // before the passes, which change buffers, sums of losses and the loss scale
    if (samples.extent(0) != targets.extent(0)) throw_other_targets(samples.extent(0), targets.extent(0));
    if constexpr (spans_processes<Where>)
      require_participants(samples.participants(), targets.participants(), connection_.participants());
    if constexpr (spans_processes<Where>) note_ = devplace::detail::distributed_access::note(samples);
    if (!compared_) equal_steps<training>::compare(*this);
    compared_ = true;
    if constexpr (compares) equal_steps<training>::mark(*this, accumulation_.batches + 1);
    [[maybe_unused]] const awake_team<backend_type> awake{};
    const nn::random_key key{state.seed, state.step++, 0, 0};
    ++state.gradient_writes;
    const step_guard guard(state, accumulation_);
    auto reduction_of_buckets = connection_.during_backward(state, accumulation_.batches + 1 == Batches);
    if constexpr (scales)
      if (accumulation_.batches == 0 || scaling_.divisor == 0)
        scaling_.divisor = scaling_.divisor_for(targets, reduction_);
    runtime::renew_working_copies<backend_type>(state);
    const bool add = accumulation_.batches != 0;
    typename launches_type::scope launches(launches_, connection_type::only_enqueues());
    if constexpr (connection_type::joins_passes) {
      joint_passes<Net, P, backend_type, state_type, connection_type, places> passes(state, connection_,
                                                                                     samples.extent(0));
      runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
        const auto x = devplace::detail::local_part(samples, k);
        const std::size_t rows = rows_of_part<input>(x, devplace::detail::local_part(targets, k));
        prepare_place(k, rows);
        passes.add(k, memory_[k], rows, x.data(),
                   key_on_place<backend_type>(memory_[k], replica(k).ordinal, runtime::key_of_part(key, samples, k)));
      });
      passes.forward();
      runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
        compute_loss<Net, P, backend_type>(passes[k], replica(k), memory_[k], *losses_[k],
                                           devplace::detail::local_part(targets, k), add, scaling_.divisor);
      });
      passes.backward(memory_, add);
    } else {
      runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
        const auto x = devplace::detail::local_part(samples, k);
        const auto y = devplace::detail::local_part(targets, k);
        const std::size_t rows = rows_of_part<input>(x, y);
        prepare_place(k, rows);
        auto advance = [&](const void* complete) { reduction_of_buckets.advance(k, complete); };
        forward_and_backward<Net, P, backend_type>(
            replica(k), memory_[k], *losses_[k], rows, x.data(), y,
            key_on_place<backend_type>(memory_[k], replica(k).ordinal, runtime::key_of_part(key, samples, k)), add,
            runtime::after_layer(advance), scaling_.divisor);
        if (places > 1) launches.finish();  // while exceptions name the replica
      });
    }
    const bool updates = ++accumulation_.batches == Batches;
    if (updates) update(state, reduction_of_buckets);
    try {
      launches.finish();
    } catch (...) {
      if (updates) state.unusable.store(runtime::partial_update_text, std::memory_order_release);
      throw;
    }
    // By index: g++ -O3 vectorises a loop over the array of four places and warns about it.
    for (std::size_t k = 0; k != places; ++k) memory_[k].next_pass = key.step + 1;
    guard.done();
    return {state_, reduction_, Batches == 1 ? 1 : places};
  }

  template <class> friend struct equal_steps;

  const runtime::replica<typename roles::storage>& replica(std::size_t k) const { return state_->replicas[k]; }
  /// The elements behind the gradients: the sums of weights and losses, and the step_mark's elements.
  T* tail(std::size_t k) const { return replica(k).tail(); }

  state_type& own_state() const {
    if (state_ == nullptr) throw_moved_trainer();
    return *state_;
  }

  /// Allocates the memory of steps with up to `rows` samples on place k.
  DEVPLACE_CONFIGURED void prepare_place(std::size_t k, std::size_t rows) {
    detail::prepare<Net, P, backend_type, bound_loss, connection_type::units::row_sums>(memory_[k], replica(k).ordinal,
                                                                                        rows);
  }

  DEVPLACE_CONFIGURED void prepare_norms() {
    connection_type::require_norms();
    norm_.allocate(own_state(), memory_, connection_.updating_places());
  }

  /// Reduces the gradients and updates the parameters.
  template <class Reduction> DEVPLACE_CONFIGURED void update(state_type& state, Reduction& started) {
    accumulation_.batches = 0;
    connection_.reduce(state, started);
    if constexpr (compares && connection_type::host_waits()) equal_steps<training>::require(*this);
    const auto factors = norm_.factors(state, memory_, connection_, reduction_, scaling_);
    const auto send_updates = [&] {
      connection_.send_updates(state);
      if constexpr (scales) connection_.send_scale(memory_);
      if constexpr (takes_reduced_loss) {
        auto* const sums = replica(0).loss_sums();
        const reduced_loss_functor<T, typename roles::accumulator> take{
            tail(0), Batches == 1 ? sums : nullptr, memory_[0].totals(), compares ? sums + 2 : nullptr};
        devplace::detail::for_each_index<backend_type>(replica(0).ordinal, 1, 1, take);
      }
    };
    optimizer_.update(state, reduction_ == reduction::mean, factors, devplace::detail::function_view<>(send_updates));
    memory_[0].counts = !takes_reduced_loss;
  }

  std::shared_ptr<state_type> state_;
  reduction reduction_;
  std::shared_ptr<parallel::transport> processes_;  ///< those that compare their trainings; null if none do
  connection_type connection_;
  optimizer_type optimizer_;
  std::array<std::optional<bound_loss>, places> losses_;
  std::array<step_memory<T>, places> memory_;
  gradient_norm<state_type, connection_type, T, places, primary_place_t<Where>, scales> norm_;
  loss_scaler<scales> scaling_;
  accumulation accumulation_;
  devplace::detail::launch_memory launches_;
  parallel::fingerprint options_;               ///< options that do not change
  const parallel::batch_note* note_ = nullptr;  ///< note of the current batch; null if no loader made it
  bool compared_ = false;                       ///< whether the replicas were compared, at the first step
};

}  // namespace devplace::train::detail
