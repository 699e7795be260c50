// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/ops/detail/loss_sums.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

template <class T, class Sample> struct loss_of_sample {
  static constexpr bool computes_much = requires { Sample::computes_much; };

  T* losses;
  Sample sample;
  DEVPLACE_HD void operator()(std::size_t i) const { losses[i] = static_cast<T>(sample(i)); }
};

template <class T, class Sample> struct term_of_sample {
  const T* losses;
  Sample sample;
  DEVPLACE_HD devplace::detail::loss_term operator()(std::size_t i) const {
    if constexpr (requires { sample.weight(i); })
      return {static_cast<double>(losses[i]), static_cast<double>(sample.weight(i))};
    else
      return {static_cast<double>(losses[i]), 1};
  }
};

}  // namespace devplace::nn::detail

namespace devplace::nn::inline DEVPLACE_CONFIGURATION {

/// Implements `into` of a program's loss; `sums` and `rows` are the arguments of `into`. Calls `sample(i)` for every
/// sample, in any order and concurrently, and writes the sum of the returned losses and the sum of the weights to
/// `sums`. `sample` is a trivially copyable struct of pointers and numbers; its const `operator()`, marked DEVPLACE_HD,
/// also writes sample i's part of the gradient. The weight of a loss is `sample.weight(i)`, also DEVPLACE_HD, or 1
/// without such a member. The order of summation depends only on the number of samples. Enqueued on the current stream
/// of the views' place; allocates nothing.
template <class Sums, class Rows, class Sample>
void sum_losses(const Sums& sums, const Rows& rows, const Sample& sample) {
  using backend = typename Rows::backend_type;
  using T = typename Rows::value_type;
  constexpr std::size_t grain = 16;
  devplace::detail::for_each_index<backend>(rows.ordinal(), rows.size(), grain,
                                            detail::loss_of_sample<T, Sample>{rows.data(), sample});
  devplace::detail::sum_losses<backend>(rows.ordinal(), rows.size(), sums.data(),
                                        detail::term_of_sample<T, Sample>{rows.data(), sample});
}

}  // namespace devplace::nn::inline DEVPLACE_CONFIGURATION
