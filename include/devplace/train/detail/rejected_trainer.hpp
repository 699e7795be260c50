// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/train/accumulate.hpp>

namespace devplace {

namespace train::detail {

/// The arguments of a constructor call that no specialisation takes.
template <class... Arguments> struct arguments {};

enum class trainer_fault : unsigned char { order, loss, rule, not_variable, inference };

template <class... Rest> inline constexpr bool accumulates_first = false;
template <std::size_t Batches, class Policy>
inline constexpr bool accumulates_first<accumulate<Batches>, Policy> = true;

template <class Model, class Loss, class Rule>
inline constexpr trainer_fault fault_of_trainer = fault_of_trainer<arguments<Model, Loss, Rule>, void, void>;
template <class... Arguments>
inline constexpr trainer_fault fault_of_trainer<arguments<Arguments...>, void, void> = trainer_fault::order;
template <class Net, class Where, class P, class Loss, class Rule, class... Rest>
inline constexpr trainer_fault fault_of_trainer<arguments<model<Net, Where, P>, Loss, Rule, Rest...>, void, void> = [] {
  if (accumulates_first<Rest...>) return trainer_fault::order;
  if (nn::loss<Loss>) return optim::optimizer_rule<Rule> ? trainer_fault::not_variable : trainer_fault::rule;
  return nn::loss<Rule> ? trainer_fault::order : trainer_fault::loss;
}();
template <class Net, class Where, class P, class... Rest>
inline constexpr trainer_fault fault_of_trainer<arguments<predictor<Net, Where, P>, Rest...>, void, void> =
    trainer_fault::inference;

/// The first layer without a backward in a model; void if every layer has one.
template <class Model> struct without_backward : std::type_identity<void> {};
template <class Net, class Where, class P>
struct without_backward<model<Net, Where, P>>
    : std::type_identity<typename runtime::network_plan<Net>::without_backward> {};

}  // namespace train::detail

/// A planned training step. Specialised for models in train/trainer.hpp; this primary template rejects all other
/// arguments.
template <class Model, class Loss = void, class Rule = void, class Policy = collective::all_reduce<>,
          class Accumulate = accumulate<1>>
class trainer {
  static constexpr auto fault = train::detail::fault_of_trainer<Model, Loss, Rule>;
  static constexpr bool in_order = fault != train::detail::trainer_fault::order;
  static constexpr bool has_loss = fault != train::detail::trainer_fault::loss;
  static constexpr bool has_rule = fault != train::detail::trainer_fault::rule;
  static constexpr bool has_gradients = fault != train::detail::trainer_fault::inference;
  using untrainable_layer = typename train::detail::without_backward<Model>::type;
  static constexpr bool takes_variable =
      fault != train::detail::trainer_fault::not_variable || !runtime::is_trainable<untrainable_layer>;
  static_assert(runtime::is_trainable<untrainable_layer>, DEVPLACE_DETAIL_NO_BACKWARD);
  static_assert(in_order,
                "devplace: trainer: its arguments are a model, a loss and a rule, in this order: trainer step{model, "
                "nn::cross_entropy{}, optim::adam{}}; a policy and accumulate<k>{} may follow.");
  static_assert(has_loss,
                "devplace: trainer: this type is not a loss; use nn::cross_entropy or nn::mse, or see docs/losses.md "
                "for the requirements.");
  static_assert(has_rule,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for the requirements.");
  static_assert(takes_variable,
                "devplace: trainer: a trainer changes its model and refers to it, so the model is neither const nor a "
                "temporary; keep the model in a variable, and pass the variable.");
  static_assert(has_gradients,
                "devplace: trainer: a predictor has no gradients and is not trained; train a model, and give the "
                "predictor its parameters by predictor.assign(model).");

 public:
  template <class... Arguments> explicit trainer(const Arguments&...) {}
  template <class... Arguments> detail::refusal operator()(const Arguments&...);  ///< avoids a second error
};

/// `trainer step{model, nn::cross_entropy{}, optim::adam{}}`, followed by the policy if it is not the default, and by
/// `accumulate<k>{}`.
///@{
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule,
          class Policy = collective::default_policy_t<Where>, std::size_t Batches = 1>
trainer(model<Net, Where, P>&, const Loss&, const Rule&, Policy = {}, accumulate<Batches> = {})
    -> trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>;
template <class Net, class Where, class P, nn::loss Loss, optim::optimizer_rule Rule, std::size_t Batches>
trainer(model<Net, Where, P>&, const Loss&, const Rule&, accumulate<Batches>)
    -> trainer<model<Net, Where, P>, Loss, Rule, collective::default_policy_t<Where>, accumulate<Batches>>;
template <class... Arguments>
trainer(const Arguments&...) -> trainer<train::detail::arguments<Arguments...>, void, void>;
///@}

}  // namespace devplace
