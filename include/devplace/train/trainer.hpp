// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/optim/clip.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/equal_replicas.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/detail/unprintable.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/runtime/settle.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/detail/accumulation.hpp>
#include <devplace/train/detail/rejected_trainer.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/step_loss.hpp>

namespace devplace {

/// Appears in the compiler's message for a trainer of a temporary model.
struct KEEP_THE_MODEL_IN_A_VARIABLE;
/// Appear in the compiler's message for a step without targets, clipping by a bare number, and a copy of a trainer.
///@{
struct GIVE_SAMPLES_AND_TARGETS_AS_IN_step_images_labels;
struct NAME_THE_NORM_AS_IN_max_norm_5;
struct MAKE_ANOTHER_TRAINER_OR_PASS_A_REFERENCE;
///@}

/// A planned training step: `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, then `step(images, labels)` for
/// each batch. It combines forward, loss, backward, `synchronize<Policy>` and the optimizer's step in memory that is
/// allocated once: after the first batch of the largest size (or `prepare`) steps up to that size do not allocate, and
/// nothing is read back until a loss is requested. On several places all run concurrently, each on its part of the
/// batch, and `Policy` defines how they agree on the update: a policy other than the default follows the rule,
/// `collective::all_reduce{}` or `collective::scatter_gather{}`, and `accumulate<k>{}` follows that. It shares the
/// model's arenas, so the model may be moved. Across processes, each process makes a trainer with an engine that
/// connects them; batches are divided among all participants, and losses are those of this process's part.
///
/// A failure of a device is thrown by the next call that waits or by the next step, with the replica's name, and makes
/// every model on that device unusable. An exception on the host before the update leaves the model as it was, and the
/// next step can run; gradients that were accumulated are lost. An exception while the update is being enqueued makes
/// the model unusable. Failures belong to a device: of two threads that use one device, either may be thrown the
/// other's. One thread at a time may use a trainer or another trainer of its model; steps at the same time throw.
template <class Model, class Loss, class Rule, class Policy = collective::all_reduce<>,
          class Accumulate = accumulate<1>>
class trainer : train::detail::rejected_trainer<Model> {
 public:
  /// Takes what the assertion has rejected.
  template <class... Arguments>
  explicit trainer(const Arguments&...) {}
};

/// The trainer of a `model<Net, Where, P>`.
template <class Net, class Where, class P, class Loss, class Rule, class Policy, std::size_t Batches>
class trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>> {
  using roles = precision_traits<P>;
  using T = typename roles::gradient;
  using state_type = runtime::model_state<typename roles::storage>;
  using backend_type = placement_backend_t<Where>;
  static_assert(nn::loss<Loss>,
                "devplace: trainer: this type is not a loss; use nn::cross_entropy or nn::mse, or see nn/loss.hpp for "
                "what one must have.");
  static_assert(sizeof(train::detail::fitting_loss<Net, Loss>) != 0);
  static constexpr bool is_policy = collective_policy<Policy, backend_type, typename roles::wire>;
  static_assert(is_policy,
                "devplace: trainer: what follows the rule is neither a collective policy nor accumulate<k>; use "
                "collective::all_reduce{} or collective::scatter_gather{}, or see parallel/policy.hpp for what a "
                "policy must have.");
  // After a failed assertion the default policy is used instead, to avoid follow-up errors.
  using policy_type = std::conditional_t<is_policy, Policy, collective::all_reduce<>>;
  static constexpr bool every_place_updates = policy_type::every_place_updates;
  using who_updates = std::conditional_t<every_place_updates, optim::on_every_place, optim::on_first_place>;
  static_assert(
      !spans_processes<Where> || parallel::spans_processes<typename policy_type::engine_type>,
      "devplace: trainer: the model lies across processes, and the policy's engine connects the places of "
      "one process; give a policy with an engine that has spans_processes = true and whose communicator knows this "
      "process's rank: collective::all_reduce<my_engine>{...}.");
  static_assert(!spans_processes<Where> || every_place_updates,
                "devplace: trainer: this policy updates on the first place alone, which only one process has; across "
                "processes use collective::all_reduce<my_engine>.");
  using communicator_type = typename policy_type::engine_type::template communicator<backend_type>;
  static constexpr std::size_t places = local_place_count<Where>;
  static constexpr std::size_t updating_places = every_place_updates ? places : 1;
  static constexpr bool communicates = spans_processes<Where> || places > 1;
  struct no_region {};
  /// Keeps CPU threads spinning between operations while a step runs.
  using stay_awake = std::conditional_t<std::is_same_v<backend_type, backend::cpu>, team_region, no_region>;

 public:
  /// The model that it trains.
  using model_type = model<Net, Where, P>;
  /// The result of a step.
  using loss_type = step_loss<typename roles::storage, Where>;
  /// The optimizer, of all places or of the first one.
  using optimizer_type = devplace::optimizer<Rule, model_type, who_updates>;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  template <detail::configured = detail::configuration>
  trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule, const Policy& policy = {},
          accumulate<Batches> = {}) try
      : state_(m.shared_state()), how_(loss.reduce), optimizer_(m, rule) {
    const runtime::sole_use use(*state_);
    runtime::require_gradients<backend_type>(*state_);
    for (std::size_t k = 0; k < places; ++k) {
      const int ordinal = replica(k).ordinal;
      losses_[k].emplace(loss.template bind<element_of_t<P>, backend_type>(ordinal));
      memory_[k].scalars =
          detail::allocate<backend_type>(ordinal, train::detail::scalar_bytes, memory_purpose::workspace);
    }
    if constexpr (communicates && is_policy)
      communicator_ = std::make_shared<communicator_type>(
          parallel::connect<backend_type>(policy, detail::mesh_of<Where>::ordinals, spans_processes<Where>));
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
    const std::size_t all = participants().count, rows = samples / all + (samples % all != 0 ? 1 : 0);
    runtime::for_each_replica<backend_type>(*state_, places, [&](std::size_t k) {
      train::detail::prepare<Net, P, backend_type>(memory_[k], replica(k).ordinal, rows);
    });
    if constexpr (communicates) parallel::prepare_reductions<Net, policy_type, typename roles::wire>(communicator());
  }

  /// From now on gradients with a norm above `rule.max_norm` are scaled down to it before the optimizer's step.
  template <detail::configured = detail::configuration>
  void clip(const optim::clip_norm& rule) {
    rule.validate();
    static_cast<void>(own_state());
    for (std::size_t k = 0; k < updating_places; ++k)
      memory_[k].clipping = detail::allocate<backend_type>(
          replica(k).ordinal,
          optim::clip_workspace_size(runtime::network_plan<Net>::parameter_elements) * sizeof(double),
          memory_purpose::workspace);
    clip_ = rule;
  }
  template <class Number, class FIX = NAME_THE_NORM_AS_IN_max_norm_5>
    requires std::is_arithmetic_v<Number>
  void clip(Number) = delete;

  /// One step on a batch: gradients of the loss, their reduction over the places, and the optimizer's update; with
  /// `accumulate<k>` the update happens in every k-th call. Asynchronous on devices; the loss stays there until it is
  /// read. The first step waits for the places and compares their copies of the parameters; it throws error if the
  /// program changed one of them alone. `samples` is [n, input extents...] and `targets` what the loss takes, both on
  /// the model's batch placement with the same split.
  template <class Samples, class Targets, detail::configured = detail::configuration>
  loss_type operator()(const Samples& samples, const Targets& targets) {
    if constexpr (train::detail::accepts_step<model_type, Samples, Targets>())
      return run_step(samples, targets);
    else
      return runtime::rejected<loss_type>();
  }

  template <class... Other, class FIX = GIVE_SAMPLES_AND_TARGETS_AS_IN_step_images_labels>
    requires(sizeof...(Other) != 2)
  loss_type operator()(const Other&...) = delete;

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
    update(state);
    guard.done();
    return true;
  }

  /// The loss over all samples since the start or the last reset, except those of steps that threw, on the host; waits
  /// for the places and throws their failures.
  template <detail::configured = detail::configuration>
  double mean_loss() const {
    auto& state = own_state();
    runtime::settle<backend_type>(state);
    double sum[2] = {0, 0};
    for (std::size_t k = 0; k < places; ++k) {
      const bool more = memory_[k].counts || accumulation_.batches != 0;
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

 private:
  template <class Samples, class Targets, detail::configured = detail::configuration>
  loss_type run_step(const Samples& samples, const Targets& targets) {
    auto& state = own_state();
    const runtime::sole_use use(state);
    train::detail::check_accumulation<backend_type>(state, accumulation_);
    if (samples.extent(0) != targets.extent(0))
      train::detail::throw_other_targets(samples.extent(0), targets.extent(0));
    if constexpr (spans_processes<Where>)
      train::detail::require_participants(samples.participants(), targets.participants(), participants());
    if constexpr (places > 1)
      if (!compared_) compare_replicas(state);
    compared_ = true;
    [[maybe_unused]] const stay_awake awake{};
    const nn::random_key key{state.seed, state.step++, 0, 0};
    ++state.gradient_writes;
    const train::detail::step_guard guard(state, accumulation_);
    runtime::renew_working_copies<backend_type>(state);
    runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
      const auto x = detail::local_part(samples, k);
      const auto y = detail::local_part(targets, k);
      const std::size_t rows = runtime::checked_rows<typename model_type::input_extents>(x);
      if (rows != y.extent(0)) train::detail::throw_other_targets_here(rows, y.extent(0));
      train::detail::prepare<Net, P, backend_type>(memory_[k], replica(k).ordinal, rows);
      train::detail::forward_and_backward<Net, P, backend_type>(replica(k), memory_[k], *losses_[k], rows, x.data(), y,
                                                                runtime::key_of_part(key, samples, k),
                                                                accumulation_.batches != 0);
    });
    if (++accumulation_.batches == Batches) update(state);
    guard.done();
    return {state_, how_};
  }

  const runtime::replica<typename roles::storage>& replica(std::size_t k) const { return state_->replicas[k]; }

  /// The participants of this process.
  template <detail::configured = detail::configuration>
  devplace::participants participants() const {
    if constexpr (communicates)
      return {static_cast<std::size_t>(communicator().first_rank()), static_cast<std::size_t>(communicator().size())};
    else
      return {0, 1};
  }

  state_type& own_state() const {
    if (state_ == nullptr) throw error("this trainer was moved from; use the variable that it was moved to.");
    return *state_;
  }

  communicator_type& communicator() const { return *static_cast<communicator_type*>(communicator_.get()); }

  template <detail::configured = detail::configuration>
  void compare_replicas(const state_type& state) const {
    std::array<std::uint64_t*, places> checksums{};
    for (std::size_t k = 0; k < places; ++k)
      checksums[k] = memory_[k].checksum();
    parallel::require_equal_replicas<Net, backend_type>(state, checksums);
  }

  /// Reduces the gradients and updates the parameters.
  template <detail::configured = detail::configuration>
  void update(state_type& state) {
    accumulation_.batches = 0;
    if constexpr (communicates) parallel::reduce_gradients<Net, policy_type>(communicator(), state);
    optimizer_.update(state, how_ == reduction::mean, clip_factors(), [&] {
      if constexpr (communicates && !every_place_updates) parallel::broadcast_parameters<Net>(communicator(), state);
    });
    for (auto& memory : memory_)
      memory.counts = true;
  }

  template <detail::configured = detail::configuration>
  std::array<const T*, places> clip_factors() {
    std::array<const T*, places> factors{};
    if (!clip_) return factors;
    for (std::size_t k = 0; k < updating_places; ++k)
      factors[k] = train::detail::clip<Net, backend_type, T>(*clip_, replica(k), memory_[k], how_);
    return factors;
  }

  std::shared_ptr<state_type> state_;
  reduction how_;
  optimizer_type optimizer_;
  std::array<std::optional<typename Loss::template bound<element_of_t<P>>>, places> losses_;
  std::array<train::detail::step_memory<T>, places> memory_;
  std::shared_ptr<void> communicator_;  // its type depends on the configuration
  std::optional<optim::clip_norm> clip_;
  train::detail::accumulation accumulation_;
  bool compared_ = false;  ///< whether the replicas were compared, at the first step
};

/// `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, followed by the policy if it is not the default, and by
/// `accumulate<k>{}`.
///@{
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule,
          class Policy = collective::all_reduce<>, std::size_t Batches = 1>
trainer(model<Net, Where, P>&, const Loss&, const Rule&, Policy = {}, accumulate<Batches> = {})
    -> trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>;
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, std::size_t Batches>
trainer(model<Net, Where, P>&, const Loss&, const Rule&, accumulate<Batches>)
    -> trainer<model<Net, Where, P>, Loss, Rule, collective::all_reduce<>, accumulate<Batches>>;
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, class... Rest>
trainer(const model<Net, Where, P>&&, const Loss&, const Rule&, Rest...) -> trainer<model<Net, Where, P>, Loss, Rule>;
template <class... Arguments>
trainer(const Arguments&...) -> trainer<train::detail::arguments<Arguments...>, void, void>;
///@}

namespace detail {

template <class... Arguments>
inline constexpr bool not_printed<trainer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
