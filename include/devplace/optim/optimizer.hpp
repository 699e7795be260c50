// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/optimizer_concept.hpp>

namespace devplace {

/// Named in the message when gradients that are not reduced yet reach an optimizer.
struct REDUCE_THE_GRADIENTS_FIRST_WITH_synchronize;

/// Named in the message when an optimizer meets a model or gradients of another type than its own.
struct PASS_THE_MODEL_THAT_THE_OPTIMIZER_WAS_MADE_FOR_AND_ITS_GRADIENTS;

namespace optim::detail {

template <class Net, class T, class G>
inline constexpr bool are_gradients_of = false;
template <class Net, class T, class Where>
inline constexpr bool are_gradients_of<Net, T, gradients<Net, Where, T>> = true;

/// The state of one replica's optimizer: arenas of the parameters' size, zero at the start.
template <class Rule, class T>
struct replica_state {
  std::array<devplace::detail::memory_block, max_state_arenas> arenas;
};

/// One update of one replica's parameters; ordinals are values here.
template <class Rule, class T, class Backend, class Tu>
void update(const Rule& rule, const nn::detail::replica<T>& r, const replica_state<Rule, T>& state,
            std::size_t elements, bool divide, const T* factor, std::int64_t step) {
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
  rule.template step<Backend, Tu>(arguments);
}

template <class Rule, class T, class Backend, class Tu>
replica_state<Rule, T> make_state(int ordinal, std::size_t elements) {
  replica_state<Rule, T> state;
  for (std::size_t i = 0; i < Rule::state_arenas; ++i) {
    state.arenas[i] = devplace::detail::allocate<Backend, Tu>(ordinal, elements * sizeof(T),
                                                              devplace::memory_purpose::optimizer_state);
    devplace::detail::for_each_index<Backend, Tu>(ordinal, elements, 4096,
                                                  nn::detail::zero_functor<T>{static_cast<T*>(state.arenas[i].data())});
  }
  return state;
}

}  // namespace optim::detail

/// The state of an optimizer for one type of model: `optimizer<optim::adam, model<net, on<cpu>>> opt{model, {...}}`,
/// or `optimizer opt{model, optim::adam{...}}`. Every place keeps the state of its own replica.
template <class Rule, class Model>
class optimizer;

/// The optimizer of a `model<Net, Where, T>`.
template <class Rule, class Net, class Where, class T>
class optimizer<Rule, model<Net, Where, T>> {
  static_assert(optim::optimizer_rule<Rule>,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for what one must have.");
  using backend_type = placement_backend_t<Where>;
  static constexpr std::size_t elements = nn::detail::network_plan<Net>::parameter_elements;

 public:
  /// The models that it updates.
  using model_type = model<Net, Where, T>;

  /// State of zeros on every place of the model. Throws argument_error for hyperparameters that make no sense.
  template <class Tu = detail::this_tu>
  optimizer(const model_type& m, const Rule& rule, Tu = {}) : rule_(rule) {
    rule.validate();
    of_ = &m.state();
    for (std::size_t k = 0; k < place_count<Where>; ++k)
      states_[k] = optim::detail::make_state<Rule, T, backend_type, Tu>(m.state().replicas[k].ordinal, elements);
  }

  /// One step with whole gradients, which are used up. Divides them by the sum of the samples' weights where the loss
  /// is a mean. All places update alike.
  template <class Tu = detail::this_tu, placement GradientWhere>
    requires std::is_same_v<GradientWhere, Where>
  void step(model_type& m, gradients<Net, GradientWhere, T>&& gradients) {
    m.check_lease(gradients);
    const auto lease = std::move(gradients);
    update<Tu>(m.state(), lease.how() == reduction::mean, {});
  }

  /// Gradients of a replicated model are partial: each place has its own summand. They are reduced first.
  template <class FIX = REDUCE_THE_GRADIENTS_FIRST_WITH_synchronize, placement GradientWhere>
    requires(!std::is_same_v<GradientWhere, Where>)
  void step(model_type&, gradients<Net, GradientWhere, T>&&) = delete;

  /// Models and gradients of other types than this optimizer's own.
  template <class FIX = PASS_THE_MODEL_THAT_THE_OPTIMIZER_WAS_MADE_FOR_AND_ITS_GRADIENTS, class M, class G>
    requires(!(std::is_same_v<M, model_type> && optim::detail::are_gradients_of<Net, T, G>))
  void step(M&, G&&) = delete;

  /// The same on the arenas of a model, for those who reduced them there; `factors` are one number on each place by
  /// which gradients are multiplied (null: 1).
  template <class Tu = detail::this_tu>
  void update(nn::detail::model_state<T>& state, bool divide, const std::array<const T*, place_count<Where>>& factors) {
    if (&state != of_)
      throw error("optimizer: it was made for another model, whose state it keeps; make one optimizer for each model.");
    rule_.validate();
    ++state.updates;
    for (std::size_t k = 0; k < place_count<Where>; ++k)
      optim::detail::update<Rule, T, backend_type, Tu>(rule_, state.replicas[k], states_[k], elements, divide,
                                                       factors[k], steps_ + 1);
    ++steps_;
  }

  /// The hyperparameters; a change counts from the next step.
  ///@{
  Rule& rule() { return rule_; }
  const Rule& rule() const { return rule_; }
  ///@}

  /// Number of steps taken.
  std::int64_t steps() const { return steps_; }

 private:
  Rule rule_;
  std::array<optim::detail::replica_state<Rule, T>, place_count<Where>> states_;
  const nn::detail::model_state<T>* of_ = nullptr;
  std::int64_t steps_ = 0;
};

/// `optimizer opt{model, optim::adam{}}`.
template <class Net, class Where, class T, class Rule>
optimizer(const model<Net, Where, T>&, const Rule&) -> optimizer<Rule, model<Net, Where, T>>;

}  // namespace devplace
