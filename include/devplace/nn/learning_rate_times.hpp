// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ratio>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/detail/wrapper.hpp>

namespace devplace::nn {

/// Multiplies the learning rate of a layer's or network's parameters by a factor, as a parameter group of torch.optim
/// with lr = factor * lr: `learning_rate_times<std::ratio<1, 10>, linear<784, 256>>`. Nested factors multiply. The
/// factor does not change the rule's weight_decay.
template <class FactorRatio, class Layer, class... More> struct learning_rate_times : detail::wrapper<Layer, More...> {
  static_assert(
      detail::number_of<FactorRatio> > 0,
      "devplace: learning_rate_times: its first argument is a factor above 0, as in learning_rate_times<std::ratio<1, "
      "10>, linear<784, 256>>; use frozen for parameters that are not trained.");
};

namespace detail {

template <class Entry, class Factor> struct scaled_entry : Entry {
  static constexpr double learning_rate = Entry::learning_rate * number_of<Factor>;
};
template <class Factor, class... Entries>
auto scaled(entry_list<Entries...>) -> entry_list<scaled_entry<Entries, Factor>...>;

template <class Factor, class... Layer, class In>
struct layer_plan<learning_rate_times<Factor, Layer...>, In>
    : layer_plan<typename learning_rate_times<Factor, Layer...>::wrapped_layer, In> {
  using plan = layer_plan<typename learning_rate_times<Factor, Layer...>::wrapped_layer, In>;
  template <std::size_t Base, std::size_t Frozen>
  using entries = decltype(scaled<Factor>(typename plan::template entries<Base, Frozen>{}));
};

}  // namespace detail
}  // namespace devplace::nn
