// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/optim/optimizer.hpp>
#include <devplace/place/detail/unprintable.hpp>

namespace devplace {
namespace optim::detail {

/// What an optimizer was to be made of.
template <class... Arguments>
struct arguments {};

}  // namespace optim::detail

/// Refuses other arguments than a model and a rule.
template <class... Arguments, class Who>
class optimizer<optim::detail::arguments<Arguments...>, void, Who> {
  static_assert(devplace::detail::accepted<Arguments...>,
                "devplace: optimizer: its arguments are a model and a rule, in this order: optimizer opt{model, "
                "optim::adam{}}.");

 public:
  /// Takes what the assertion has rejected.
  template <class... Any>
  explicit optimizer(const Any&...) {}
};

/// Refuses predictors.
template <class Rule, class Net, class Where, class P, class Who>
class optimizer<Rule, predictor<Net, Where, P>, Who> {
  static_assert(detail::accepted<Net>,
                "devplace: optimizer: a predictor has no gradients and is not trained; train a model, and give the "
                "predictor its parameters by predictor.assign(model).");

 public:
  /// Takes what the assertion has rejected.
  template <class... Any>
  explicit optimizer(const Any&...) {}
};

/// A predictor has nothing to train: refused.
template <class Net, class Where, class P, class Rule>
optimizer(const predictor<Net, Where, P>&, const Rule&) -> optimizer<Rule, predictor<Net, Where, P>>;
/// A network's parameters, as PyTorch's optimizers take, a rule before the model, or a model alone: refused.
template <class... Arguments>
optimizer(const Arguments&...) -> optimizer<optim::detail::arguments<Arguments...>, void>;

namespace detail {

template <class... Arguments>
inline constexpr bool not_printed<optimizer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
