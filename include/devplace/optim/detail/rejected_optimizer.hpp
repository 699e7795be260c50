// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/optim/optimizer.hpp>
#include <devplace/place/detail/unprintable.hpp>

namespace devplace {

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

namespace detail {

template <class... Arguments>
inline constexpr bool not_printed<optimizer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
