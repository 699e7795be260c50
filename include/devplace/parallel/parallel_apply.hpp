// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/nn/model.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION {

/// The prediction of one of several models; adds the model to exceptions.
template <std::size_t Index, std::size_t Count, class Model, class Input>
auto apply_one(const Model& model, const Input& input) {
  try {
    return model.predict(input);
  } catch (...) {
    devplace::detail::rethrow_for_replica(std::current_exception(), Index, Count,
                                          placement_name<typename Model::placement_type>());
  }
}

template <class Model, class Input>
inline constexpr bool lie_together = std::is_same_v<typename std::remove_cvref_t<Model>::placement_type,
                                                    typename std::remove_cvref_t<Input>::placement_type>;

}  // namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Predictions of several models, each for its own input on its own place: `parallel_apply(replicas, inputs)` returns
/// the tuple of their outputs, as torch.nn.parallel.parallel_apply. The devices work concurrently: the call enqueues
/// work on each and waits for none. An exception names the model by its position, counted from 0, and its place, and
/// keeps its type; a later failure on a device is thrown where that device's output is read. Both arguments are tuples
/// of equal length, possibly of references (`std::tie(x, y)`).
template <class... Models, class... Inputs>
auto parallel_apply(const std::tuple<Models...>& models, const std::tuple<Inputs...>& inputs) {
  static_assert(sizeof...(Models) == sizeof...(Inputs),
                "devplace: parallel_apply: the numbers of models and inputs differ; give each model one input.");
  if constexpr (sizeof...(Models) == sizeof...(Inputs)) {
    constexpr bool in_place = (parallel::detail::lie_together<Models, Inputs> && ...);
    static_assert(in_place,
                  "devplace: parallel_apply: an input does not lie on the place of the model with the same position; "
                  "move it there with to<on<P>>(input).");
    // Braces guarantee the order of evaluation. Each call only enqueues work on its device.
    if constexpr (in_place) return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{parallel::detail::apply_one<I, sizeof...(I)>(std::get<I>(models), std::get<I>(inputs))...};
      }
    (std::index_sequence_for<Models...>{});
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
