// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/loss_scaling.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/bucket_reduction.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/detail/accumulation.hpp>
#include <devplace/train/detail/checked_training.hpp>
#include <devplace/train/detail/equal_steps.hpp>
#include <devplace/train/detail/joint_passes.hpp>
#include <devplace/train/detail/loss_scaler.hpp>
#include <devplace/train/detail/rejected_trainer.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/detail/training.hpp>
#include <devplace/train/detail/whole_training.hpp>
#include <devplace/train/gradient_norms.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/step_loss.hpp>
#include <devplace/train/training_state.hpp>

namespace devplace {

/// A planned training step: `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, then `step(images, labels)` for
/// each batch. Combines forward, loss, backward, `synchronize<Policy>` and the optimizer's step in memory that is
/// allocated once. After the first batch of the largest size (or `prepare`) steps up to that size do not allocate.
/// Nothing is read back until a loss is requested. Several places run concurrently, each on its part of the batch.
/// `Policy` defines how the places agree on the update: `collective::all_reduce{}` (the default) or
/// `collective::scatter_gather{}`. Pass it after the rule, and `accumulate<k>{}` after the policy. The trainer shares
/// the model's arenas, so the model may be moved. All processes of this thread's process_scope make the trainer and
/// call it. Batches are divided among all participants, and losses cover whole batches (with `accumulate<k>` a step's
/// own loss covers this process's part only).
///
/// The next step or waiting call throws a device's failure, with the replica's name; the failure makes every model on
/// that device unusable. If the host throws before the update, parameters and optimizer state are unchanged, and the
/// next step can run. Accumulated gradients are then lost, and buffers of layers such as batch_norm may include the
/// batch. An exception while the update is being enqueued makes the model unusable. Across processes an exception must
/// leave the scope of the group, because the other processes are still in the step. Failures belong to a device: if two
/// threads use one device, either may receive the other thread's failure. Only one thread at a time may use the
/// trainers of a model; concurrent steps throw.
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, class Policy, std::size_t Batches>
  requires runtime::is_trainable<typename train::detail::without_backward<model<Net, Where, P>>::type>
class trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>
    : train::detail::training<Net, Where, P, Loss, Rule, Policy, Batches> {
  using plan = runtime::network_plan<Net>;
  using roles = precision_traits<P>;
  using backend_type = placement_backend_t<Where>;
  using training = train::detail::training<Net, Where, P, Loss, Rule, Policy, Batches>;
  using training::accumulation_;
  using training::connection_;
  using training::memory_;
  using training::norm_;
  using training::optimizer_;
  using training::own_state;
  using training::places;
  using training::replica;
  using training::scaling_;
  using equal_steps = train::detail::equal_steps<training>;

 public:
  /// The type of the model.
  using model_type = model<Net, Where, P>;
  /// The result of a step.
  using loss_type = step_loss<typename roles::storage, Where>;
  /// The optimizer: on all places, on their shares, or on the first place.
  using optimizer_type = typename training::optimizer_type;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              const Policy& policy = {}, accumulate<Batches> = {}) try
      : training(m, loss, rule, policy) {
    const runtime::sole_use use(own_state());
    reset_mean_loss();
    if constexpr (scales_losses<P>) scale_losses({});
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the trainer");
  }
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              accumulate<Batches> batches)
      : trainer(m, loss, rule, Policy{}, batches) {}
  ///@}

  /// Transfers the trainer's memory; the model is not affected.
  ///@{
  trainer(trainer&&) noexcept = default;
  trainer& operator=(trainer&&) noexcept = default;
  ///@}

  /// Allocates the memory for batches of up to `samples` samples, split evenly, and makes the libraries' plans for
  /// batches of exactly `samples`; call it for each size of batches. Optional: otherwise the steps allocate and plan.
  DEVPLACE_CONFIGURED void prepare(std::size_t samples) {
    static_cast<void>(own_state());
    const auto [first, all] = connection_.participants();
    const std::size_t rows = detail::divided_up(samples, all);
    const auto parts = detail::divide<places>(samples, split::even, {first, all});
    runtime::for_each_replica<backend_type>(own_state(), places, [&](std::size_t k) {
      this->prepare_place(k, rows);
      train::detail::plan_passes<Net, P, backend_type>(replica(k), memory_[k], parts[k + 1] - parts[k], Batches > 1);
    });
    connection_.prepare();
  }

  /// Before each further update, scales gradients whose norm exceeds `rule.max_norm` down to the norm `rule.max_norm`.
  DEVPLACE_CONFIGURED void clip(const optim::clip_norm& rule) {
    optim::validate(rule);
    this->prepare_norms();
    norm_.clip(rule);
  }

  /// measure_gradients() makes each further update compute the 2-norm over all gradients on the places. This takes two
  /// launches, which clipping and mixed<half> need anyway. A second call resets the statistics. gradient_norms()
  /// enqueues a copy to the host and returns at once. After `auto norms = step.gradient_norms()` and further steps,
  /// `norms.item().mean` waits only for the steps before gradient_norms(). The gradients do not change. All processes
  /// call measure_gradients(); with collective::scatter_gather only the first process has the norms. Checkpoints
  /// exclude the norms.
  ///@{
  DEVPLACE_CONFIGURED void measure_gradients() {
    this->prepare_norms();
    norm_.measure(connection_.updating_places() != 0);
  }
  DEVPLACE_CONFIGURED unread_gradient_norms<primary_place_t<Where>> gradient_norms() const {
    static_cast<void>(own_state());
    return norm_.measured();
  }
  ///@}

  /// The places adapt the loss scale in mixed<half>: steps whose gradients have an infinite or NaN element on any place
  /// change no parameters. scale_losses() restarts the scale with options other than the defaults. scaler() reads the
  /// scale's state, and set_scaler() restores it; both wait for the places and throw their failures. scale_losses() and
  /// set_scaler() throw error between the batches of one accumulation: call flush() first.
  ///@{
  DEVPLACE_CONFIGURED void scale_losses(const optim::loss_scaling& options) {
    if constexpr (train::detail::has_scaler<P>()) {
      optim::validate(options);
      auto& state = own_state();
      train::detail::require_no_batches(accumulation_);
      this->prepare_norms();
      scaling_.options = options;
      train::detail::set_scale<backend_type>(state, memory_, {options.initial_scale, 0, 0});
    }
  }
  DEVPLACE_CONFIGURED optim::loss_scaler_state scaler() const {
    if constexpr (train::detail::has_scaler<P>()) {
      runtime::wait_for_model<backend_type>(own_state());
      return train::detail::read_scale<backend_type>(replica(0).ordinal, memory_[0]);
    } else {
      return {};
    }
  }
  DEVPLACE_CONFIGURED void set_scaler(const optim::loss_scaler_state& to) {
    if constexpr (train::detail::has_scaler<P>()) {
      train::detail::require_scaler_state(to);
      auto& state = own_state();
      train::detail::require_no_batches(accumulation_);
      runtime::wait_for_model<backend_type>(state);
      train::detail::set_scale<backend_type>(state, memory_, to);
    }
  }
  ///@}

  /// Makes one step with a batch: computes the gradients of the loss, reduces them over the places, and updates the
  /// parameters; with `accumulate<k>` in every k-th call. Asynchronous on devices; the loss stays on the places until
  /// the program reads it. `samples` is [n, input extents...] and `targets` are the loss's targets, both on the model's
  /// batch placement with equal splits.
  ///
  /// The first step waits for the places and compares their copies of the parameters, and the processes' trainings. The
  /// step throws error if the program changed a single copy, and communication_error if processes differ. Each later
  /// step throws communication_error before it changes parameters if a process took another step or has other options
  /// or parameters. With collective::nccl the host does not wait for the reduction, so reading a loss throws instead,
  /// after parameters have changed.
  template <class Samples, class Targets>
  DEVPLACE_CONFIGURED auto operator()(const Samples& samples, const Targets& targets) {
    if constexpr (train::detail::accepts_step<model_type, Loss, Samples, Targets>()) {
      plan::template compile_layers<backend_type, typename plan::template first_element<P>, P, true>(
          typename plan::indices{});
      return training::step(samples, targets);
    } else
      return runtime::rejected<loss_type>();
  }

  /// On GPUs, a step whose launches have the arguments of an earlier step becomes one graph, which is captured when the
  /// arguments repeat for the first time: with equal addresses and sizes of batches, as the loader provides them in
  /// turn. Results have the same bits. A layer that copies to the host, waits or allocates divides the graph, and so
  /// does optim::on_host, as last_launches() reports. launch_as_graphs(false) launches each kernel on its own.
  ///@{
  DEVPLACE_CONFIGURED void launch_as_graphs(bool enabled) { training::launches_.enabled = enabled; }
  DEVPLACE_CONFIGURED step_launches last_launches() const { return training::launches_.last; }
  ///@}

  /// Updates the parameters with the gradients accumulated since the last update, for example at the end of an epoch
  /// with a remainder of batches. Returns whether there were such gradients.
  DEVPLACE_CONFIGURED bool flush() {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::check_accumulation<backend_type>(state, accumulation_);
    if (accumulation_.batches == 0) return false;
    optimizer_.validate();
    if constexpr (training::compares) equal_steps::mark_flush(*this);
    [[maybe_unused]] const train::detail::awake_team<backend_type> awake{};
    const train::detail::step_guard guard(state, accumulation_);
    parallel::no_bucket_reduction after_passes;
    training::update(state, after_passes);
    guard.done();
    return true;
  }

  /// Returns on the host the loss over all samples since the start or the last reset, except samples of steps that
  /// threw. Waits for the places and throws their failures. Across processes, covers the batches of all processes, but
  /// only batches that an update has used; needs no communication.
  DEVPLACE_CONFIGURED double mean_loss() const {
    auto& state = own_state();
    runtime::wait_for_model<backend_type>(state);
    if constexpr (spans_processes<Where>) {
      typename runtime::replica<typename roles::storage>::accumulator sums[3];
      detail::copy_out<backend_type>(replica(0).ordinal, sums, replica(0).loss_sums(), sizeof sums);
      train::detail::require_no_difference(sums[2]);
    }
    // Across processes the sums of pending batches are reduced with their update.
    const bool pending = !spans_processes<Where> && accumulation_.batches != 0;
    const auto [loss, weights] = train::detail::read_losses<backend_type>(state, memory_, pending);
    // The losses of before a reset leave the rounding errors of their reduced sum behind.
    return runtime::loss_from<double>(weights == 0 ? 0 : loss, weights, reduction::mean);
  }
  /// Restarts the mean loss, for example at the start of an epoch; waits for the places and throws their failures.
  /// Across processes, batches that no update has used yet count after the reset; to exclude them, call flush() first.
  DEVPLACE_CONFIGURED void reset_mean_loss() {
    runtime::wait_for_model<backend_type>(own_state());
    const bool waiting = training::takes_reduced_loss && !spans_processes<Where> && accumulation_.batches != 0;
    for (std::size_t k = 0; k < places; ++k)
      detail::for_each_index<backend_type>(replica(k).ordinal, 1, 1,
                                           train::detail::reset_totals_functor{memory_[k].totals(), waiting});
  }

  /// state() returns the whole state of the training on the host, for checkpoints (train/checkpoint.hpp). restore()
  /// sets it in a trainer of an equal network, precision and rule, on any placement and with any policy. Options of the
  /// loss and of clip() are not included. state() and restore() wait for the places and throw their failures; between
  /// the batches of one accumulation they throw error. All processes call state() and restore().
  ///@{
  DEVPLACE_CONFIGURED train::training_state<optim::saved_rule_t<Rule>, typename roles::parameter> state() {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::wait_between_updates<backend_type>(state, accumulation_);
    training::note_ = nullptr;
    equal_steps::compare(*this);
    return train::detail::read_training<backend_type>(state, optimizer_, memory_, scaling_, connection_);
  }
  DEVPLACE_CONFIGURED void restore(
      const train::training_state<optim::saved_rule_t<Rule>, typename roles::parameter>& from) {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::wait_between_updates<backend_type>(state, accumulation_);
    train::detail::write_training<Net, backend_type>(state, optimizer_, memory_, scaling_, from);
    if constexpr (spans_processes<Where>) train::detail::clear_difference<backend_type>(replica(0));
    runtime::wait_for_model<backend_type>(state);
    training::compared_ = false;
  }
  ///@}

  /// Number of updates and assignments of the model so far, for objects such as moving_average that depend on this
  /// number.
  DEVPLACE_CONFIGURED std::uint64_t model_updates() const { return own_state().updates; }
  /// The optimizer, for its hyperparameters: `step.optimizer().rule().learning_rate = ...`.
  optimizer_type& optimizer() { return optimizer_; }

  /// @cond For derived trainers.
 protected:
  /// Number of batches since the last update.
  std::size_t pending_batches() const { return accumulation_.batches; }
  /// @endcond
};

template <class... Arguments> inline constexpr bool detail::not_printed<trainer<Arguments...>> = true;

}  // namespace devplace
