// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/optim/clip.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/detail/unprintable.hpp>
#include <devplace/runtime/settle.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/detail/accumulation.hpp>
#include <devplace/train/detail/connection.hpp>
#include <devplace/train/detail/rejected_trainer.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/step_loss.hpp>

namespace devplace {

/// A planned training step: `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, then `step(images, labels)` for
/// each batch. It combines forward, loss, backward, `synchronize<Policy>` and the optimizer's step in memory that is
/// allocated once: after the first batch of the largest size (or `prepare`) steps up to that size do not allocate, and
/// nothing is read back until a loss is requested. On several places all run concurrently, each on its part of the
/// batch, and `Policy` defines how they agree on the update: a policy other than the default follows the rule,
/// `collective::all_reduce{}` or `collective::scatter_gather{}`, and `accumulate<k>{}` follows that. It shares the
/// model's arenas, so the model may be moved. Across processes, those of this thread's process_scope, all make the
/// trainer and all call it; batches are divided among all participants, and losses are those of whole batches (with
/// `accumulate<k>` a step's own loss is that of this process's part).
///
/// A failure of a device is thrown by the next call that waits or by the next step, with the replica's name, and makes
/// every model on that device unusable. An exception on the host before the update leaves the model as it was, and the
/// next step can run; gradients that were accumulated are lost. An exception while the update is being enqueued makes
/// the model unusable. Across processes an exception must leave the scope of the group: the others are in the step that
/// this one left. Failures belong to a device: of two threads that use one device, either may be thrown the
/// other's. One thread at a time may use a trainer or another trainer of its model; steps at the same time throw.
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, class Policy, std::size_t Batches>
class trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>> {
  using plan = runtime::network_plan<Net>;
  using roles = precision_traits<P>;
  using T = typename roles::gradient;
  using state_type = runtime::model_state<typename roles::storage>;
  using backend_type = placement_backend_t<Where>;
  static constexpr bool takes_outputs = !(nn::gives_probabilities<Net> && requires { requires Loss::takes_logits; }),
                        takes_logarithms =
                            !(nn::gives_probabilities<Net> && requires { requires Loss::takes_log_probabilities; });
  static_assert(takes_outputs,
                "devplace: trainer: cross_entropy and bce_with_logits take logits, and the network ends in softmax or "
                "sigmoid; leave that layer out, and call softmax(model.predict(x)) for probabilities.");
  static_assert(
      takes_logarithms,
      "devplace: trainer: nll and kl_div take logarithms of probabilities, and the network ends in softmax or "
      "sigmoid; end it in nn::log_softmax.");
  static constexpr bool in_own_memory = !std::is_same_v<Where, shared_memory>;
  static_assert(
      in_own_memory,
      "devplace: trainer: a model in shared memory has a trainer of its own (train/hogwild.hpp); write #include "
      "<devplace/shared_memory.hpp>.");
  static constexpr bool is_policy = collective_policy<Policy, backend_type, typename roles::wire>;
  static_assert(is_policy,
                "devplace: trainer: what follows the rule is neither a collective policy nor accumulate<k>; use "
                "collective::all_reduce{} or collective::scatter_gather{}, or see parallel/policy.hpp for what a "
                "policy must have.");
  // After a failed assertion the default policy is used instead, to avoid follow-up errors.
  using policy_type = std::conditional_t<is_policy, Policy, collective::all_reduce<>>;
  using connection_type = train::detail::connection<Net, Where, P, policy_type>;
  static constexpr std::size_t places = local_place_count<Where>;
  using stay_awake = train::detail::stay_awake<backend_type>;

 public:
  /// The model that it trains.
  using model_type = model<Net, Where, P>;
  /// The result of a step.
  using loss_type = step_loss<typename roles::storage, Where>;
  /// The optimizer, of all places, of their shares or of the first place.
  using optimizer_type = devplace::optimizer<Rule, model_type, typename connection_type::who_updates>;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  template <detail::configured = detail::configuration>
  trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule, const Policy& policy = {},
          accumulate<Batches> = {}) try
      : state_(m.shared_state()),
        how_(loss.reduce),
        connection_(policy),
        optimizer_(connection_.template optimizer<optimizer_type>(m, rule)) {
    const runtime::sole_use use(*state_);
    runtime::require_gradients<backend_type>(*state_);
    for (std::size_t k = 0; k < places; ++k) {
      const int ordinal = replica(k).ordinal;
      losses_[k].emplace(loss.template bind<element_of_t<P>, backend_type>(ordinal));
      memory_[k].scalars =
          detail::allocate<backend_type>(ordinal, train::detail::scalar_bytes, memory_purpose::workspace);
    }
    connection_.describe(loss, Batches);
    reset_mean_loss();
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the trainer");
  }
  template <detail::configured = detail::configuration>
  trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule, accumulate<Batches> batches)
      : trainer(m, loss, rule, Policy{}, batches) {}
  ///@}
  /// A temporary model would be destroyed after training: give it a name.
  template <class FIX = KEEP_THE_MODEL_IN_A_VARIABLE, class... Rest>
  trainer(const model_type&&, Rest&&...) = delete;

  /// Transfers its memory; the model is not affected.
  ///@{
  trainer(trainer&&) noexcept = default;
  trainer& operator=(trainer&&) noexcept = default;
  ///@}
  trainer(const trainer&, MAKE_ANOTHER_TRAINER_OR_PASS_A_REFERENCE* = nullptr) = delete;

  /// Allocates the memory for batches of up to `samples` samples, split evenly. Optional: a larger batch, or part of
  /// one, does it itself.
  template <detail::configured = detail::configuration>
  void prepare(std::size_t samples) {
    static_cast<void>(own_state());
    const std::size_t all = connection_.participants().count, rows = samples / all + (samples % all != 0 ? 1 : 0);
    runtime::for_each_replica<backend_type>(*state_, places, [&](std::size_t k) {
      train::detail::prepare<Net, P, backend_type>(memory_[k], replica(k).ordinal, rows);
    });
    connection_.prepare();
  }

  /// From now on gradients with a norm above `rule.max_norm` are scaled down to it before the optimizer's step.
  template <detail::configured = detail::configuration>
  void clip(const optim::clip_norm& rule) {
    rule.validate();
    static_cast<void>(own_state());
    const std::size_t bytes = optim::clip_workspace_size(plan::parameter_elements) * sizeof(double);
    for (std::size_t k = 0; k < connection_.updating_places(); ++k)
      memory_[k].clipping = detail::allocate<backend_type>(replica(k).ordinal, bytes, memory_purpose::workspace);
    clip_ = rule;
  }
  template <class Number, class FIX = NAME_THE_NORM_AS_IN_max_norm_5>
    requires std::is_arithmetic_v<Number> detail::refusal clip(Number)
  DEVPLACE_REFUSED("trainer: clipping takes the norm by name: step.clip({.max_norm = 5}).");

  /// One step on a batch: gradients of the loss, their reduction over the places, and the optimizer's update; with
  /// `accumulate<k>` the update happens in every k-th call. Asynchronous on devices; the loss stays there until it is
  /// read. The first step waits for the places and compares their copies of the parameters, and processes what they
  /// train; it throws error if the program changed one of them alone, communication_error if processes differ.
  /// `samples` is [n, input extents...] and `targets` what the loss takes, both on the model's batch placement with the
  /// same split.
  template <class Samples, class Targets, detail::configured = detail::configuration>
  auto operator()(const Samples& samples, const Targets& targets) {
    using train::detail::step_fault;
    constexpr step_fault fault = train::detail::fault_of_step<model_type, Samples, Targets>();
    constexpr bool in_order = fault != step_fault::swapped, takes_targets = fault != step_fault::no_tensor,
                   in_one_place = fault != step_fault::elsewhere,
                   fits_loss = fault != step_fault::none || !train::detail::misses_class_numbers<Loss, Targets>();
    static_assert(in_order,
                  "devplace: trainer: the samples come first and the targets second: step(samples, targets).");
    static_assert(takes_targets,
                  "devplace: trainer: the targets are a tensor or a view of one; numbers elsewhere in the host's "
                  "memory, as in a std::vector, are viewed by wrap(values, extents<dyn>(n)).");
    static_assert(in_one_place,
                  "devplace: the step's samples and targets lie on different placements; a loader<Where> gives both "
                  "where the model takes them.");
    static_assert(
        fits_loss,
        "devplace: trainer: cross_entropy and nll take class numbers, one integer for each sample; for targets "
        "with a floating-point type use mse, and argmax(targets, axis<1>{}) of a one-hot code.");
    if constexpr (fault == step_fault::samples) static_cast<void>(runtime::accepts_batch<model_type, Samples, false>());
    if constexpr (fault == step_fault::none && fits_loss) {
      plan::template compile_layers<backend_type, typename model_type::input_type, P, true>(typename plan::indices{});
      return run_step(samples, targets);
    } else
      return runtime::rejected<loss_type>();
  }

  /// Not two arguments, and what PyTorch's optimizers have.
  ///@{
  template <class... Other, class FIX = GIVE_SAMPLES_AND_TARGETS_AS_IN_step_images_labels>
    requires(sizeof...(Other) != 2)
  detail::refusal operator()(const Other&...)
      DEVPLACE_REFUSED("trainer: a step takes samples and targets: step(images, labels).");
  template <class FIX = GRADIENTS_ARE_WRITTEN_ANEW_LEAVE_zero_grad_OUT>
  detail::refusal zero_grad() DEVPLACE_REFUSED("gradients are written anew by each step; leave zero_grad() out.");
  static constexpr train::detail::rate_of_rule learning_rate{};
  ///@}

  /// Updates the parameters with the gradients accumulated since the last update, for example at the end of an epoch
  /// whose number of batches is not a multiple of `accumulate<k>`'s k. Returns whether there were any.
  template <detail::configured = detail::configuration>
  bool flush() {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::check_accumulation<backend_type>(state, accumulation_);
    if (accumulation_.batches == 0) return false;
    [[maybe_unused]] const stay_awake awake{};
    const train::detail::step_guard guard(state, accumulation_);
    parallel::no_bucket_reduction after_passes;
    update(state, after_passes);
    guard.done();
    return true;
  }

  /// The loss over all samples since the start or the last reset, except those of steps that threw, on the host; waits
  /// for the places and throws their failures. Across processes that of all processes, without communication: of the
  /// batches whose gradients were used.
  template <detail::configured = detail::configuration>
  double mean_loss() const {
    auto& state = own_state();
    runtime::settle<backend_type>(state);
    double sum[2] = {0, 0};
    for (std::size_t k = 0; k < places; ++k) {
      // Across processes pending batches are known here only after their update.
      const bool more = !spans_processes<Where> && (memory_[k].counts || accumulation_.batches != 0);
      double totals[4];
      detail::copy_out<backend_type>(replica(k).ordinal, totals, memory_[k].totals(), sizeof totals);
      for (std::size_t i = 0; i < 2; ++i)
        sum[i] += more ? totals[i] + totals[i + 2] : totals[i];
    }
    return runtime::loss_from<double>(sum[0], sum[1], reduction::mean);
  }
  /// Restarts the mean loss, for example at the start of an epoch; waits for the places and throws their failures.
  template <detail::configured = detail::configuration>
  void reset_mean_loss() {
    runtime::settle<backend_type>(own_state());
    for (std::size_t k = 0; k < places; ++k)
      detail::for_each_index<backend_type>(replica(k).ordinal, 4, 4,
                                           runtime::zero_functor<double>{memory_[k].totals()});
  }

  /// The optimizer, for its hyperparameters: `step.optimizer().rule().learning_rate = ...`.
  optimizer_type& optimizer() { return optimizer_; }

  /// @cond For trainers that are made of this one.
 protected:
  /// Number of batches since the last update.
  std::size_t pending_batches() const { return accumulation_.batches; }
  /// @endcond

 private:
  template <class Samples, class Targets, detail::configured = detail::configuration>
  loss_type run_step(const Samples& samples, const Targets& targets) {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::check_accumulation<backend_type>(state, accumulation_);
    if (samples.extent(0) != targets.extent(0))
      train::detail::throw_other_targets(samples.extent(0), targets.extent(0));
    if constexpr (spans_processes<Where>)
      train::detail::require_participants(samples.participants(), targets.participants(), connection_.participants());
    if (!compared_) {
      if constexpr (places > 1) train::detail::compare_replicas<Net, backend_type>(state, memory_);
      connection_.compare(state, optimizer_.rule(), clip_ ? clip_->max_norm : 0);
      compared_ = true;
    }
    [[maybe_unused]] const stay_awake awake{};
    const nn::random_key key{state.seed, state.step++, 0, 0};
    ++state.gradient_writes;
    const train::detail::step_guard guard(state, accumulation_);
    auto reduction_of_buckets =
        connection_.during_backward(state, accumulation_.batches + 1 == Batches, clip_.has_value());
    runtime::renew_working_copies<backend_type>(state);
    runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
      const auto x = detail::local_part(samples, k);
      const auto y = detail::local_part(targets, k);
      const std::size_t rows = runtime::checked_rows<typename model_type::input_extents>(x);
      if (rows != y.extent(0)) train::detail::throw_other_targets_here(rows, y.extent(0));
      train::detail::prepare<Net, P, backend_type>(memory_[k], replica(k).ordinal, rows);
      train::detail::forward_and_backward<Net, P, backend_type>(
          replica(k), memory_[k], *losses_[k], rows, x.data(), y, runtime::key_of_part(key, samples, k),
          accumulation_.batches != 0, reduction_of_buckets.after(k));
    });
    if (++accumulation_.batches == Batches) update(state, reduction_of_buckets);
    guard.done();
    return {state_, how_};
  }

  const runtime::replica<typename roles::storage>& replica(std::size_t k) const { return state_->replicas[k]; }

  state_type& own_state() const {
    if (state_ == nullptr) throw error("this trainer was moved from; use the variable that it was moved to.");
    return *state_;
  }

  /// Reduces the gradients and updates the parameters.
  template <class Reduction, detail::configured = detail::configuration>
  void update(state_type& state, Reduction& started) {
    accumulation_.batches = 0;
    connection_.reduce(state, clip_.has_value(), started);
    for (std::size_t k = 0; spans_processes<Where> && k < places; ++k)
      train::detail::take_reduced_loss<Net, backend_type>(replica(k), memory_[k], k == 0, Batches == 1);
    optimizer_.update(state, how_ == reduction::mean, clip_factors(), [&] { connection_.spread(state); });
    for (auto& memory : memory_)
      memory.counts = !spans_processes<Where>;
  }

  template <detail::configured = detail::configuration>
  std::array<const T*, places> clip_factors() {
    std::array<const T*, places> factors{};
    if (!clip_) return factors;
    for (std::size_t k = 0; k < connection_.updating_places(); ++k)
      factors[k] = train::detail::clip<Net, backend_type, T>(*clip_, replica(k), memory_[k], how_);
    return factors;
  }

  std::shared_ptr<state_type> state_;
  reduction how_;
  connection_type connection_;
  optimizer_type optimizer_;
  std::array<std::optional<typename Loss::template bound<element_of_t<P>>>, places> losses_;
  std::array<train::detail::step_memory<T>, places> memory_;
  std::optional<optim::clip_norm> clip_;
  train::detail::accumulation accumulation_;
  bool compared_ = false;  ///< whether the replicas were compared, at the first step
};

namespace detail {

template <class... Arguments>
inline constexpr bool not_printed<trainer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
