// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/loss.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/runtime/network.hpp>

namespace devplace::train::detail {

/// The arguments of a trainer, of which none was made.
template <class... Arguments>
struct arguments {};

/// The first argument that is not what it must be, as far as the types tell.
enum class trainer_fault : unsigned char { order, loss, rule, const_model };

template <class Arguments>
inline constexpr trainer_fault fault_of_trainer = trainer_fault::order;
template <class Net, class Where, class P, class Loss, class Rule, class... Rest>
inline constexpr trainer_fault fault_of_trainer<arguments<model<Net, Where, P>, Loss, Rule, Rest...>> = [] {
  if (nn::loss<Loss>) return optim::optimizer_rule<Rule> ? trainer_fault::const_model : trainer_fault::rule;
  return nn::loss<Rule> ? trainer_fault::order : trainer_fault::loss;
}();

/// The base of a trainer that cannot be made: says why.
template <class Arguments>
class rejected_trainer {
  static constexpr trainer_fault fault = fault_of_trainer<Arguments>;
  static_assert(fault != trainer_fault::order,
                "devplace: trainer: its arguments are a model, a loss and a rule, in this order: trainer step{model, "
                "nn::cross_entropy{}, optim::adam{}}; a policy and accumulate<k>{} may follow.");
  static_assert(fault != trainer_fault::loss,
                "devplace: trainer: this type is not a loss; use nn::cross_entropy or nn::mse, or see nn/loss.hpp for "
                "what one must have.");
  static_assert(fault != trainer_fault::rule,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for what one must have.");
  static_assert(fault != trainer_fault::const_model,
                "devplace: trainer: a const model cannot be trained; pass the model itself, not a const reference.");
};

}  // namespace devplace::train::detail
