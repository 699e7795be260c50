// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/unprintable.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/optim/clip.hpp>
#include <devplace/optim/loss_scaling.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/detail/checked_training.hpp>
#include <devplace/train/detail/rejected_trainer.hpp>
#include <devplace/train/detail/scaling.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/detail/step_fault.hpp>
#include <devplace/train/detail/training.hpp>
#include <devplace/train/gradient_norms.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/step_loss.hpp>
#include <devplace/train/training_state.hpp>

namespace devplace {

/// A planned training step: `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, then `step(images, labels)` for
/// each batch. Combines forward, loss, backward, `synchronize<Policy>` and the optimizer's step in memory that is
/// allocated once. After the first batch of the largest size (or `prepare`) steps up to that size do not allocate.
/// Nothing is read back until a loss is requested. Several places run concurrently, each on its part of the batch.
/// `Policy` defines how the places agree on the update: after the rule give `collective::all_reduce{}` (the default) or
/// `collective::scatter_gather{}`, and then `accumulate<k>{}`. The trainer shares the model's arenas, so the model may
/// be moved. All processes of this thread's process_scope make the trainer and call it. Batches are divided among all
/// participants, and losses cover whole batches (with `accumulate<k>` a step's own loss covers this process's part
/// only).
///
/// The next step or waiting call throws a device's failure, with the replica's name; the failure makes every model on
/// that device unusable. After an exception on the host before the update, parameters and optimizer state are
/// unchanged, and the next step can run; accumulated gradients are lost, and buffers of layers, as batch_norm's, may
/// include the batch. An exception while the update is being enqueued makes the model unusable. Across processes an
/// exception must leave the scope of the group: the other processes are still in the step. Failures belong to a device:
/// if two threads use one device, either may receive the other thread's failure. Only one thread at a time may use the
/// trainers of a model; concurrent steps throw.
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, class Policy, std::size_t Batches>
class trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>> {
  using plan = runtime::network_plan<Net>;
  using roles = precision_traits<P>;
  using backend_type = placement_backend_t<Where>;
  static_assert(train::detail::checked_training<Net, Where, P, Loss, Rule, Policy>());
  // The default policy replaces a rejected one, to avoid further errors.
  using policy_type = std::conditional_t<collective_policy<Policy, backend_type, typename roles::wire>, Policy,
                                         collective::all_reduce<>>;
  using training_type = train::detail::training<Net, Where, P, Loss, Rule, policy_type, Batches>;

 public:
  /// The type of the model.
  using model_type = model<Net, Where, P>;
  /// The result of a step.
  using loss_type = step_loss<typename roles::storage, Where>;
  /// The optimizer: on all places, on their shares, or on the first place.
  using optimizer_type = typename training_type::optimizer_type;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              const Policy& policy = {}, accumulate<Batches> = {})
      : training_(m, loss, rule, policy) {}
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              accumulate<Batches> batches)
      : trainer(m, loss, rule, Policy{}, batches) {}
  ///@}

  /// Transfers its memory; the model is not affected.
  ///@{
  trainer(trainer&&) noexcept = default;
  trainer& operator=(trainer&&) noexcept = default;
  ///@}

  /// Allocates the memory for batches of up to `samples` samples, split evenly, and makes the libraries' plans for
  /// batches of exactly `samples`; call it for each size of batches. Optional, since steps allocate and plan what is
  /// missing.
  DEVPLACE_CONFIGURED void prepare(std::size_t samples) { training_.prepare(samples); }

  /// Scales gradients with a norm above `rule.max_norm` down to it before each further update.
  DEVPLACE_CONFIGURED void clip(const optim::clip_norm& rule) { training_.clip(rule); }

  /// measure_gradients() makes each further update compute the 2-norm over all gradients on the places. This takes one
  /// launch, which clipping and mixed<half> need anyway. A second call resets the statistics. gradient_norms() enqueues
  /// a copy to the host and returns at once: `auto norms = step.gradient_norms()`, further steps, and
  /// `norms.item().mean`, which waits only for the steps before gradient_norms(). The gradients do not change. All
  /// processes call measure_gradients(); with collective::scatter_gather only the first has the norms. Checkpoints do
  /// not include them.
  ///@{
  DEVPLACE_CONFIGURED void measure_gradients() { training_.measure_gradients(); }
  DEVPLACE_CONFIGURED unread_gradient_norms<primary_place_t<Where>> gradient_norms() const {
    return training_.gradient_norms();
  }
  ///@}

  /// The loss scale in mixed<half>, which the places adapt: steps whose gradients have an infinite or NaN element on
  /// any place change no parameters. scale_losses() restarts it with options other than the defaults. scaler() reads
  /// the state, and set_scaler() restores it; both wait for the places and throw their failures. scale_losses() and
  /// set_scaler() throw error between the batches of one accumulation: call flush() first.
  ///@{
  DEVPLACE_CONFIGURED void scale_losses(const optim::loss_scaling& options) {
    if constexpr (train::detail::has_scaler<P>()) training_.scale_losses(options);
  }
  DEVPLACE_CONFIGURED optim::loss_scaler_state scaler() const {
    if constexpr (train::detail::has_scaler<P>())
      return training_.scaler();
    else
      return {};
  }
  DEVPLACE_CONFIGURED void set_scaler(const optim::loss_scaler_state& to) {
    if constexpr (train::detail::has_scaler<P>()) training_.set_scaler(to);
  }
  ///@}

  /// Makes one step with a batch: computes the gradients of the loss, reduces them over the places, and updates the
  /// parameters; with `accumulate<k>` in every k-th call. Asynchronous on devices; the loss stays on the places until
  /// it is read. `samples` is [n, input extents...] and `targets` are the loss's targets, both on the model's batch
  /// placement with equal splits.
  ///
  /// The first step waits for the places and compares their copies of the parameters, and the processes' trainings. The
  /// step throws error if the program changed a single copy, and communication_error if processes differ. Each later
  /// step throws communication_error before it changes parameters if a process took another step or has other options
  /// or parameters. With collective::nccl, for which the host does not wait, reading a loss throws instead, after
  /// parameters have changed.
  template <class Samples, class Targets>
  DEVPLACE_CONFIGURED auto operator()(const Samples& samples, const Targets& targets) {
    if constexpr (train::detail::accepts_step<model_type, Loss, Samples, Targets>()) {
      plan::template compile_layers<backend_type, typename plan::template first_element<P>, P, true>(
          typename plan::indices{});
      return training_.step(samples, targets);
    } else
      return runtime::rejected<loss_type>();
  }

  /// Updates the parameters with the gradients accumulated since the last update, for example at the end of an epoch
  /// with a remainder of batches. Returns whether there were any.
  DEVPLACE_CONFIGURED bool flush() { return training_.flush(); }

  /// Returns the loss over all samples since the start or the last reset, without steps that threw, on the host; waits
  /// for the places and throws their failures. Across processes, covers the batches of all processes that updates have
  /// used, without communication.
  DEVPLACE_CONFIGURED double mean_loss() const { return training_.mean_loss(); }
  /// Restarts the mean loss, for example at the start of an epoch; waits for the places and throws their failures.
  /// Across processes batches that wait for their update count after the reset: call flush() first.
  DEVPLACE_CONFIGURED void reset_mean_loss() { training_.reset_mean_loss(); }

  /// state() returns the whole state of the training on the host, for checkpoints (train/checkpoint.hpp). restore()
  /// sets it in a trainer of an equal network, precision and rule, on any placement and with any policy. Options of the
  /// loss and of clip() are not included. Both wait for the places and throw their failures, and throw error between
  /// the batches of one accumulation. All processes call them.
  ///@{
  DEVPLACE_CONFIGURED auto state() { return training_.state(); }
  DEVPLACE_CONFIGURED void restore(const train::training_state<Rule, typename roles::parameter>& from) {
    training_.restore(from);
  }
  ///@}

  /// Number of updates and assignments of the model so far, for objects that follow them, such as moving_average.
  DEVPLACE_CONFIGURED std::uint64_t model_updates() const { return training_.model_updates(); }
  /// The optimizer, for its hyperparameters: `step.optimizer().rule().learning_rate = ...`.
  optimizer_type& optimizer() { return training_.optimizer(); }

  /// @cond For derived trainers.
 protected:
  /// Number of batches since the last update.
  std::size_t pending_batches() const { return training_.pending_batches(); }
  /// @endcond

 private:
  training_type training_;
};

namespace detail {

template <class... Arguments>
inline constexpr bool not_printed<trainer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
