// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/loss.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/train/accumulate.hpp>

namespace devplace {

/// Appear in the compiler's message for a trainer of a temporary model, a copy of a trainer, a step without targets,
/// clipping by a bare number, and PyTorch's step, zero_grad and learning rate.
///@{
struct KEEP_THE_MODEL_IN_A_VARIABLE;
struct MAKE_ANOTHER_TRAINER_OR_PASS_A_REFERENCE;
struct GIVE_SAMPLES_AND_TARGETS_AS_IN_step_images_labels;
struct CALL_THE_TRAINER_AS_IN_step_images_labels;
struct NAME_THE_NORM_AS_IN_max_norm_5;
struct WRITE_step_optimizer_rule_learning_rate;
///@}

namespace train::detail {

/// The arguments of a trainer, of which none was made.
template <class... Arguments>
struct arguments {};

/// The first argument that is not what it must be, as far as the types tell.
enum class trainer_fault : unsigned char { order, loss, rule, const_model, inference };

/// Whether accumulate<k> stands in front of the policy.
template <class... Rest>
inline constexpr bool accumulates_first = false;
template <std::size_t Batches, class Policy>
inline constexpr bool accumulates_first<accumulate<Batches>, Policy> = true;

template <class Model, class Loss, class Rule>
inline constexpr trainer_fault fault_of_trainer = fault_of_trainer<arguments<Model, Loss, Rule>, void, void>;
template <class... Arguments>
inline constexpr trainer_fault fault_of_trainer<arguments<Arguments...>, void, void> = trainer_fault::order;
template <class Net, class Where, class P, class Loss, class Rule, class... Rest>
inline constexpr trainer_fault fault_of_trainer<arguments<model<Net, Where, P>, Loss, Rule, Rest...>, void, void> = [] {
  if (accumulates_first<Rest...>) return trainer_fault::order;
  if (nn::loss<Loss>) return optim::optimizer_rule<Rule> ? trainer_fault::const_model : trainer_fault::rule;
  return nn::loss<Rule> ? trainer_fault::order : trainer_fault::loss;
}();
template <class Net, class Where, class P, class... Rest>
inline constexpr trainer_fault fault_of_trainer<arguments<predictor<Net, Where, P>, Rest...>, void, void> =
    trainer_fault::inference;
template <class Net, class Where, class P, class Loss, class Rule>
inline constexpr trainer_fault fault_of_trainer<predictor<Net, Where, P>, Loss, Rule> = trainer_fault::inference;

/// The type of a trainer's `learning_rate`, which belongs to its rule.
struct rate_of_rule {
  template <class FIX = WRITE_step_optimizer_rule_learning_rate>
  devplace::detail::refusal operator=(double) const
      DEVPLACE_REFUSED("the learning rate belongs to the rule: step.optimizer().rule().learning_rate = 1e-3.");
};

}  // namespace train::detail
/// A planned training step, specialised for models in train/trainer.hpp; this one says why other arguments make none.
template <class Model, class Loss = void, class Rule = void, class Policy = collective::all_reduce<>,
          class Accumulate = accumulate<1>>
class trainer {
  static constexpr auto fault = train::detail::fault_of_trainer<Model, Loss, Rule>;
  static constexpr bool in_order = fault != train::detail::trainer_fault::order;
  static constexpr bool has_loss = fault != train::detail::trainer_fault::loss;
  static constexpr bool has_rule = fault != train::detail::trainer_fault::rule;
  static constexpr bool has_gradients = fault != train::detail::trainer_fault::inference;
  static constexpr bool of_variable = fault != train::detail::trainer_fault::const_model;
  static_assert(in_order,
                "devplace: trainer: its arguments are a model, a loss and a rule, in this order: trainer step{model, "
                "nn::cross_entropy{}, optim::adam{}}; a policy and accumulate<k>{} may follow.");
  static_assert(has_loss,
                "devplace: trainer: this type is not a loss; use nn::cross_entropy or nn::mse, or see docs/losses.md "
                "for what one must have.");
  static_assert(has_rule,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for what one must have.");
  static_assert(of_variable,
                "devplace: trainer: a const model cannot be trained; pass the model itself, not a const reference.");
  static_assert(has_gradients,
                "devplace: trainer: a predictor has no gradients and is not trained; train a model, and give the "
                "predictor its parameters by predictor.assign(model).");

 public:
  /// Take what the assertions have rejected.
  ///@{
  template <class... Arguments>
  explicit trainer(const Arguments&...) {}
  template <class... Arguments>
  detail::refusal operator()(const Arguments&...);
  ///@}
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

}  // namespace devplace
