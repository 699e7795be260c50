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

/// Calls `predict()` for one of several models; adds the model's position and place to exceptions.
template <std::size_t Index, std::size_t Count, class Model> auto apply_one(const Model&, const auto& predict) {
  try {
    return predict();
  } catch (...) {
    devplace::detail::rethrow_for_replica(std::current_exception(), Index, Count,
                                          placement_name<typename Model::placement_type>());
  }
}

/// Whether model number k lies on place k of the mesh.
template <class Mesh, class... Models> inline constexpr bool are_on_mesh = false;
template <class... P, class... Models>
  requires(sizeof...(P) == sizeof...(Models))
inline constexpr bool are_on_mesh<devices<P...>, Models...> =
    (std::is_same_v<typename std::remove_cvref_t<Models>::placement_type, on<P>> && ...);

}  // namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Predicts with several models, each for its own input on its own place: `parallel_apply(replicas, inputs)` returns
/// the tuple of their outputs, as torch.nn.parallel.parallel_apply. Both arguments are tuples of equal length, possibly
/// of references (`std::tie(x, y)`). The devices work concurrently: the call enqueues work on each and waits for none.
/// Exceptions keep their type; their messages name the model's position, from 0, and its place. If a device fails
/// later, reading its output throws the failure.
template <class... Models, class... Inputs>
auto parallel_apply(const std::tuple<Models...>& models, const std::tuple<Inputs...>& inputs) {
  static_assert(sizeof...(Models) == sizeof...(Inputs),
                "devplace: parallel_apply: the numbers of models and inputs differ; give each model one input.");
  if constexpr (sizeof...(Models) == sizeof...(Inputs)) {
    constexpr bool in_place = (std::is_same_v<typename std::remove_cvref_t<Models>::placement_type,
                                              typename std::remove_cvref_t<Inputs>::placement_type> &&
                               ...);
    static_assert(in_place,
                  "devplace: parallel_apply: an input does not lie on the place of the model with the same position; "
                  "move it there with to<on<P>>(input).");
    // Braces guarantee the order of evaluation.
    if constexpr (in_place)
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{parallel::detail::apply_one<I, sizeof...(I)>(
            std::get<I>(models), [&] { return std::get<I>(models).predict(std::get<I>(inputs)); })...};
      }(std::index_sequence_for<Models...>{});
  }
}

/// Predicts for a tensor that is split along axis 0. Model k predicts for part k, on the place of the part:
/// `parallel_apply(replicas, scatter<sharded<axis<0>, 0, 1>>(x))`. The outputs are one tensor with the same split.
template <class First, class... Rest, detail::distributed_tensor Input>
auto parallel_apply(const std::tuple<First, Rest...>& models, const Input& inputs) {
  using where = typename Input::placement_type;
  using model_type = std::remove_cvref_t<First>;
  using mesh = typename detail::mesh_of<where>::local;
  constexpr bool split = std::is_same_v<detail::kind_of<where>, split_along<0>>;
  constexpr bool on_mesh = parallel::detail::are_on_mesh<mesh, First, Rest...>;
  constexpr bool equal_outputs =
      ((std::is_same_v<typename model_type::output_type, typename std::remove_cvref_t<Rest>::output_type> &&
        std::is_same_v<typename model_type::output_extents, typename std::remove_cvref_t<Rest>::output_extents>) &&
       ...);
  static_assert(split,
                "devplace: parallel_apply: the inputs are one tensor that is not split along axis 0, so that its "
                "places have no samples of their own; split it with scatter<sharded<axis<0>, 0, 1>>(x).");
  static_assert(!split || on_mesh,
                "devplace: parallel_apply: the models do not lie on the places of the inputs, in the same order; "
                "replicate<replicated<0, 1>>(model) and scatter<sharded<axis<0>, 0, 1>>(x) name the same places.");
  static_assert(!on_mesh || equal_outputs,
                "devplace: parallel_apply: the models' outputs differ in type or extents, so they cannot be parts of "
                "one tensor; give the inputs as a tuple.");
  if constexpr (split && on_mesh && equal_outputs) {
    auto outputs = detail::make_like<typename model_type::output_type, where>(
        runtime::batch_extents<typename model_type::output_extents>(inputs.extent(0)), inputs);
    [&]<class... P, std::size_t... I>(devices<P...>, std::index_sequence<I...>) {
      (parallel::detail::apply_one<I, sizeof...(I)>(
           std::get<I>(models),
           [&] { std::get<I>(models).predict_into(outputs.template local<P>(), inputs.template local<P>()); }),
       ...);
    }(mesh{}, std::index_sequence_for<First, Rest...>{});
    return outputs;
  }
}

/// Fails to compile with a message about valid arguments.
template <class... X> auto parallel_apply(const X&...) {
  static_assert(sizeof...(X) == 0 && sizeof...(X) != 0,
                "devplace: parallel_apply: the models are a tuple, and the inputs a second tuple or one split tensor, "
                "as in parallel_apply(std::tie(a, b), std::tie(x, y)).");
  return 0;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
