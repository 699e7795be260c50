// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/optim/clip.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace {

/// The loss of one training step, on its place until `item()` reads it. Valid until the next step.
template <class T, class Backend>
class step_loss {
 public:
  /// From the loss's sums behind the gradients of a model's first replica.
  step_loss(std::shared_ptr<const nn::detail::model_state<T>> state, const T* tail, reduction how)
      : state_(std::move(state)), step_(state_->step), tail_(tail), how_(how) {}

  /// The loss of the whole batch on the host; waits for the place. NaN for a mean over no samples. Throws error after
  /// the model's next pass, which overwrites it.
  template <class Tu = detail::this_tu>
  T item() const {
    if (state_->step != step_)
      throw error(
          "a step's loss was read after the next step had overwritten it; call item() before that, or use "
          "the trainer's mean_loss().");
    T sums[2];
    detail::copy_out<Backend, Tu>(state_->replicas.front().ordinal, sums, tail_, sizeof sums);
    return nn::detail::loss_from<T>(static_cast<double>(sums[1]), static_cast<double>(sums[0]), how_);
  }

 private:
  std::shared_ptr<const nn::detail::model_state<T>> state_;
  std::uint64_t step_;
  const T* tail_;
  reduction how_;
};

/// Named in the message when a trainer is made for a temporary model.
struct KEEP_THE_MODEL_IN_A_VARIABLE;

/// A planned training step: `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, then `step(images, labels)` for
/// each batch. It does what forward, loss, backward, `synchronize<Policy>` and the optimizer's step do one by one, in
/// memory that it allocates once: after the first batch of the largest size (or `prepare`) a step of any size up to
/// that allocates nothing, and nothing is read back until a loss is asked for. It shares the
/// model's arenas, so the model may be moved.
template <class Model, class Loss, class Rule, class Policy = collective::in_process_sum>
class trainer;

/// The trainer of a `model<Net, Where, T>`.
template <class Net, class Where, class T, class Loss, class Rule, class Policy>
class trainer<model<Net, Where, T>, Loss, Rule, Policy> {
  using backend_type = placement_backend_t<Where>;
  using plan = nn::detail::network_plan<Net>;
  using layout = train::detail::step_layout<Net>;
  static constexpr std::size_t places = place_count<Where>;
  static constexpr bool on_cpu = std::is_same_v<backend_type, backend::cpu>;

 public:
  /// The model that it trains.
  using model_type = model<Net, Where, T>;
  /// What a step returns.
  using loss_type = step_loss<T, backend_type>;

  /// Throws argument_error for options of the loss or the rule that make no sense.
  template <class Tu = detail::this_tu>
  trainer(model_type& m, const Loss& loss, const Rule& rule, Policy = {}, Tu = {})
      : state_(m.shared_state()), how_(loss.reduce), optimizer_(m, rule, Tu{}) {
    for (std::size_t k = 0; k < places; ++k) {
      const int ordinal = replica(k).ordinal;
      losses_[k].emplace(loss.template place<T, backend_type, Tu>(ordinal));
      memory_[k].scalars = detail::allocate<backend_type, Tu>(ordinal, train::detail::scalar_bytes);
    }
    if constexpr (places > 1)
      reduction_buffer_ = detail::allocate<backend_type, Tu>(
          replica(0).ordinal, (plan::parameter_elements + nn::detail::gradient_tail) * sizeof(T));
    reset_mean_loss<Tu>();
  }
  /// A temporary model would be lost after training: name it first.
  template <class FIX = KEEP_THE_MODEL_IN_A_VARIABLE, class... Rest>
  trainer(const model_type&&, Rest&&...) = delete;

  /// Hands its memory over; the model stays where it is.
  trainer(trainer&&) noexcept = default;

  /// Allocates what batches of up to `samples` samples need. Calling it is optional: a larger batch does it itself.
  template <class Tu = detail::this_tu>
  void prepare(std::size_t samples) {
    if constexpr (on_cpu) detail::gemm_prepare();
    if (samples <= capacity_) return;
    constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max() / (layout::workspace(1) * sizeof(T));
    if (samples > limit)
      throw argument_error("trainer: a batch of " + std::to_string(samples) +
                           " samples takes more memory than there are addresses; use a smaller one.");
    const std::size_t rows = (samples + places - 1) / places;
    capacity_ = 0;  // nothing is prepared if an allocation fails half-way
    for (std::size_t k = 0; k < places; ++k) {
      memory_[k].workspace = {};
      memory_[k].workspace =
          detail::allocate<backend_type, Tu>(replica(k).ordinal, layout::workspace(rows) * sizeof(T));
    }
    capacity_ = samples;
  }

  /// From now on gradients whose norm is above `rule.max_norm` are scaled down to it before the optimizer's step.
  template <class Tu = detail::this_tu>
  void clip(const optim::clip_norm& rule) {
    rule.validate();
    for (std::size_t k = 0; k < places; ++k)
      memory_[k].clipping = detail::allocate<backend_type, Tu>(
          replica(k).ordinal, optim::clip_workspace_size(plan::parameter_elements) * sizeof(double));
    clip_ = rule;
  }

  /// One step on a batch: gradients of the loss, reduced over the places, and the optimizer's update. Returns at once
  /// on devices; the loss stays there until it is read. `samples` is [n, input extents...] and `targets` what the loss
  /// takes, both on the model's batch placement.
  template <class Tu = detail::this_tu, class Samples, class Targets>
  loss_type operator()(const Samples& samples, const Targets& targets) {
    nn::detail::check_batch<Where, T, typename model_type::input_extents>(samples);
    static_assert(std::is_same_v<typename Targets::placement_type, typename Samples::placement_type>,
                  "devplace: the step's samples and targets lie on different placements; a loader<Where> gives both "
                  "where the model takes them.");
    if (state_ == nullptr) throw error("this trainer was moved from; use the variable that it was moved to.");
    auto& state = *state_;
    if (state.gradients_out)
      throw error("trainer: a lease of the model's gradients is still in use; let it go before the next step.");
    if (samples.extent(0) != targets.extent(0))
      throw shape_error("trainer: " + std::to_string(samples.extent(0)) + " samples and " +
                        std::to_string(targets.extent(0)) + " targets; a batch has one target for each sample.");
    if (samples.extent(0) > capacity_ || capacity_ == 0) prepare<Tu>(samples.extent(0));
    [[maybe_unused]] const auto awake = stay_awake();
    const nn::random_key key{state.seed, state.step++, 0, 0};
    for (std::size_t k = 0; k < places; ++k) {
      const auto x = detail::local_part(samples, k);
      train::detail::forward_and_backward<Net, T, backend_type, Tu>(
          replica(k), memory_[k], *losses_[k], nn::detail::checked_rows<typename model_type::input_extents>(x),
          x.data(), detail::local_part(targets, k), nn::detail::key_of_part(key, samples, k));
    }
    if constexpr (places > 1)
      parallel::detail::sum_over_replicas<T, backend_type, Tu>(
          state, plan::parameter_elements + nn::detail::gradient_tail, static_cast<T*>(reduction_buffer_.data()));
    const T* const tail = replica(0).gradient_data() + plan::parameter_elements;
    detail::for_each_index<backend_type, Tu>(replica(0).ordinal, 1, 1,
                                             train::detail::total_functor<T>{memory_[0].totals(), tail});
    optimizer_.template update<Tu>(state, how_ == reduction::mean, clip_factors<Tu>());
    return {state_, tail, how_};
  }

  /// The loss over all samples since the start or the last reset, on the host; waits for the place.
  template <class Tu = detail::this_tu>
  double mean_loss() const {
    double totals[2];
    detail::copy_out<backend_type, Tu>(replica(0).ordinal, totals, memory_[0].totals(), sizeof totals);
    return nn::detail::loss_from<double>(totals[0], totals[1], reduction::mean);
  }
  /// Starts the mean loss anew, as at the start of an epoch.
  template <class Tu = detail::this_tu>
  void reset_mean_loss() {
    detail::for_each_index<backend_type, Tu>(replica(0).ordinal, 2, 2,
                                             train::detail::clear_totals_functor{memory_[0].totals()});
  }

  /// The optimizer, for its hyperparameters: `step.optimizer().rule().learning_rate = ...`.
  devplace::optimizer<Rule, model_type>& optimizer() { return optimizer_; }

 private:
  const nn::detail::replica<T>& replica(std::size_t k) const { return state_->replicas[k]; }

  /// CPU threads wait actively from one operation to the next while a step runs.
  auto stay_awake() const {
    if constexpr (on_cpu)
      return std::make_optional<team_region>();
    else
      return std::nullopt;
  }

  template <class Tu>
  std::array<const T*, places> clip_factors() {
    std::array<const T*, places> factors{};
    if (!clip_) return factors;
    for (std::size_t k = 0; k < places; ++k) {
      optim::clip_arguments<T> arguments;
      arguments.ordinal = replica(k).ordinal;
      arguments.n = plan::parameter_elements;
      arguments.gradients = replica(k).gradient_data();
      arguments.divisor = how_ == reduction::mean ? arguments.gradients + plan::parameter_elements : nullptr;
      arguments.factor = memory_[k].clip();
      arguments.norm = memory_[k].clip() + 1;
      arguments.workspace = static_cast<double*>(memory_[k].clipping.data());
      optim::clip_norm_into<backend_type, Tu>(*clip_, arguments);
      factors[k] = arguments.factor;
    }
    return factors;
  }

  std::shared_ptr<nn::detail::model_state<T>> state_;
  reduction how_;
  devplace::optimizer<Rule, model_type> optimizer_;
  std::array<std::optional<typename Loss::template placed<T>>, places> losses_;
  std::array<train::detail::step_memory<T>, places> memory_;
  detail::memory_block reduction_buffer_;
  std::optional<optim::clip_norm> clip_;
  std::size_t capacity_ = 0;
};

/// `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, with the policy behind them where it is not the default.
///@{
template <class Net, class Where, class T, class Loss, class Rule>
trainer(model<Net, Where, T>&, const Loss&, const Rule&) -> trainer<model<Net, Where, T>, Loss, Rule>;
template <class Net, class Where, class T, class Loss, class Rule, class Policy>
trainer(model<Net, Where, T>&, const Loss&, const Rule&, Policy) -> trainer<model<Net, Where, T>, Loss, Rule, Policy>;
template <class Net, class Where, class T, class Loss, class Rule, class... Rest>
trainer(const model<Net, Where, T>&&, const Loss&, const Rule&, Rest...) -> trainer<model<Net, Where, T>, Loss, Rule>;
///@}

}  // namespace devplace
