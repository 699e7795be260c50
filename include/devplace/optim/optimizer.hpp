// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/settle.hpp>

namespace devplace {

/// Appears in the compiler's message when gradients that are not reduced are passed to an optimizer.
struct REDUCE_THE_GRADIENTS_FIRST_WITH_synchronize;

/// Appears in the compiler's message when a model or gradients of another type are passed to an optimizer.
struct PASS_THE_MODEL_THAT_THE_OPTIMIZER_WAS_MADE_FOR_AND_ITS_GRADIENTS;

/// Appears in the compiler's message for PyTorch's zero_grad.
struct GRADIENTS_ARE_WRITTEN_ANEW_LEAVE_zero_grad_OUT;

namespace optim {

/// Which places run an optimizer: each place for its own replica, or only the first one, which then alone holds the
/// state.
///@{
struct on_every_place {};
struct on_first_place {};
///@}

}  // namespace optim

namespace optim::detail {

/// The state of one replica's optimizer, initially zero: arenas of the parameters' size, and the rule's step memory.
template <class Rule, class T>
struct replica_state {
  std::array<devplace::detail::memory_block, max_state_arenas> arenas;
  devplace::detail::memory_block steps;
  alignas(std::max_align_t) std::array<std::byte, step_memory_bytes> sent{};  ///< what was sent to `steps`
};

/// Updates one replica's parameters; ordinals are run-time values here.
template <class Rule, class T, class Backend, class S>
void update(const Rule& rule, const runtime::replica<S>& r, replica_state<Rule, T>& state, std::size_t elements,
            bool divide, const T* factor, std::int64_t step) {
  step_arguments<T> arguments;
  arguments.ordinal = r.ordinal;
  arguments.n = elements;
  arguments.parameters = r.parameter_data();
  arguments.gradients = r.gradient_data();
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    arguments.state[i] = static_cast<T*>(state.arenas[i].data());
  arguments.divisor = divide ? r.gradient_data() + elements : nullptr;
  arguments.gradient_factor = factor;
  arguments.step = step;
  arguments.step_memory = state.steps.data();
  arguments.sent = state.sent.data();
  rule.template step<Backend>(arguments);
}

template <class Rule, class T, class Backend>
replica_state<Rule, T> make_state(int ordinal, std::size_t elements) {
  const auto zeros = [ordinal](std::size_t count) {
    return runtime::zeros<T, Backend>(ordinal, count, memory_purpose::optimizer_state);
  };
  replica_state<Rule, T> state;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i)
    state.arenas[i] = zeros(elements);
  state.steps = zeros(step_memory_bytes / sizeof(T));
  return state;
}

}  // namespace optim::detail

/// The state of an optimizer for one type of model: `optimizer<optim::adam, model<net, on<cpu>>> opt{model, {...}}`, or
/// `optimizer opt{model, optim::adam{...}}`. Every place holds the state of its own replica, unless `Who` is
/// `optim::on_first_place`, as in a trainer with `collective::scatter_gather`. One thread at a time; two steps of one
/// model at once throw.
template <class Rule, class Model, class Who = optim::on_every_place>
class optimizer;

/// The optimizer of a `model<Net, Where, P>`.
template <class Rule, class Net, class Where, class P, class Who>
class optimizer<Rule, model<Net, Where, P>, Who> {
  using roles = precision_traits<P>;
  using T = typename roles::parameter;
  using state_type = runtime::model_state<typename roles::storage>;
  static_assert(std::is_same_v<T, typename roles::gradient> && std::is_same_v<T, typename roles::state>,
                "devplace: optimizer: parameters, gradients and state take part in one update and are of one type; see "
                "precision_traits.");
  static_assert(optim::optimizer_rule<Rule>,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for what one must have.");
  using backend_type = placement_backend_t<Where>;
  using mesh = detail::mesh_of<Where>;
  static constexpr std::size_t elements = runtime::network_plan<Net>::parameter_elements;
  static constexpr std::size_t places = local_place_count<Where>;
  static constexpr std::size_t updating_places = std::is_same_v<Who, optim::on_every_place> ? places : 1;

 public:
  /// The models that it can update.
  using model_type = model<Net, Where, P>;

  /// Initialises the state to zero on every place of the model. Throws argument_error for invalid hyperparameters.
  /// Waits for the places and throws earlier failures of them.
  template <detail::configured = detail::configuration>
  optimizer(const model_type& m, const Rule& rule) : rule_(rule) {
    rule.validate();
    of_ = m.shared_state();
    for (std::size_t k = 0; k < updating_places; ++k)
      states_[k] = optim::detail::make_state<Rule, T, backend_type>(mesh::ordinals[k], elements);
    // A device with an unseen failure has skipped the initialisation.
    detail::wait_for_replicas<backend_type>(mesh::ordinals);
  }

  /// One step with whole gradients, which are consumed; divides them by the sum of the samples' weights if the loss is
  /// a mean. All places make the same update. Throws earlier failures of places; the model is unusable then.
  template <placement GradientWhere, detail::configured = detail::configuration>
    requires(std::is_same_v<GradientWhere, Where>&& updating_places == places)
  void step(model_type& m, gradients<Net, GradientWhere, P>&& gradients) {
    m.check_lease(gradients);
    const runtime::sole_use use(m.state());
    const auto lease = std::move(gradients);
    update(m.state(), lease.how() == reduction::mean, {}, [] {});
  }

  /// Gradients of a replicated model are partial: each place has a summand. Reduce them first.
  template <class FIX = REDUCE_THE_GRADIENTS_FIRST_WITH_synchronize, placement GradientWhere>
    requires(!std::is_same_v<GradientWhere, Where>)
  detail::refusal step(model_type&, gradients<Net, GradientWhere, P>&&)
  DEVPLACE_REFUSED(
      "the gradients are partial, a summand on each place; reduce them first: opt.step(model, "
      "synchronize(std::move(gradients))).");

  /// A step consumes the gradients: move them in.
  template <class FIX = GRADIENTS_ARE_USED_UP_WRITE_std_move, placement GradientWhere>
  detail::refusal step(model_type&, gradients<Net, GradientWhere, P>&)
      DEVPLACE_REFUSED("a step uses the gradients up; move them in: opt.step(model, std::move(gradients)).");

  /// Other arguments, and what PyTorch's optimizers have.
  ///@{
  template <class... Wrong, class FIX = PASS_THE_MODEL_THAT_THE_OPTIMIZER_WAS_MADE_FOR_AND_ITS_GRADIENTS>
  detail::refusal step(const Wrong&...) DEVPLACE_REFUSED(
      "optimizer: a step takes the model that the optimizer was made for and its gradients: opt.step(model, "
      "model.backward(std::move(saved), gradient)).");
  template <class FIX = GRADIENTS_ARE_WRITTEN_ANEW_LEAVE_zero_grad_OUT>
  detail::refusal zero_grad() DEVPLACE_REFUSED("gradients are written anew by each backward; leave zero_grad() out.");
  ///@}

  /// The same on a model's arenas, for callers that reduced the gradients there; `factors` are one element on each
  /// place by which gradients are multiplied (null: 1). `spread()` is called after the updates were enqueued, to copy
  /// the parameters to the other places.
  template <class Spread, detail::configured = detail::configuration>
  void update(state_type& state, bool divide, const std::array<const T*, places>& factors, Spread&& spread) {
    if (&state != of_.lock().get())
      throw error("optimizer: it was made for another model, whose state it keeps; make one optimizer for each model.");
    rule_.validate();
    runtime::settle_after_failures<backend_type>(state);
    ++state.updates;
    state.working_copies_are_old = true;
    ++steps_;
    try {
      runtime::for_each_replica<backend_type>(state, updating_places, [&](std::size_t k) {
        optim::detail::update<Rule, T, backend_type>(rule_, state.replicas[k], states_[k], elements, divide, factors[k],
                                                     steps_);
      });
      spread();
    } catch (...) {
      state.unusable.store(runtime::partial_update_text, std::memory_order_release);
      throw;
    }
  }

  /// The hyperparameters; changes take effect in the next step.
  ///@{
  Rule& rule() { return rule_; }
  const Rule& rule() const { return rule_; }
  ///@}

  /// Number of enqueued steps.
  std::int64_t steps() const { return steps_; }

 private:
  Rule rule_;
  std::array<optim::detail::replica_state<Rule, T>, updating_places> states_;
  std::weak_ptr<const state_type> of_;  ///< not an address, which another model could reuse
  std::int64_t steps_ = 0;
};

/// `optimizer opt{model, optim::adam{}}`.
template <class Net, class Where, class P, class Rule>
optimizer(const model<Net, Where, P>&, const Rule&) -> optimizer<Rule, model<Net, Where, P>>;

}  // namespace devplace
