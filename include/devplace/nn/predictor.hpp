// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <system_error>
#include <type_traits>
#include <utility>

#include <devplace/base/error_code.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/nn/detail/initial_state.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/model_types.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/predict.hpp>

namespace devplace {

namespace detail {

template <class Net, class Where, class P> inline constexpr bool not_printed<predictor<Net, Where, P>> = true;

/// Makes predictors without a model.
struct predictor_access {
  /// Returns a predictor; `fill` receives its model of zeros and writes the parameters.
  template <class Predictor, std::size_t Samples, class Fill>
  static Predictor filled(batch<Samples> largest, const Fill& fill) {
    return Predictor(Predictor::tile_of(largest), Predictor::filled(fill));
  }
};

}  // namespace detail

/// Parameters for inference alone, without gradients: `predictor p{model, batch<256>{}}` copies a model's parameters,
/// `predictor<net, on<cuda<0>>> p{model, batch<256>{}}` makes a float copy on another place, and `read_predictor`
/// (train/read_predictor.hpp) reads a file. The constructor allocates all memory, for tiles of `batch<N>` samples over
/// all places; `memory_plan<predictor<net, Where>, batch<N>>::bytes` is the size of this memory. predict_into then
/// allocates nothing, for any number of samples, row-major or with strides. Each concurrent call, and each call on a
/// stream other than the constructor's, uses another workspace; the first such call allocates it. Move-only.
template <class Net, placement Where, precision P = float>
class predictor
    // An alias, because Doxygen reports members of other instances of documented bases as not documented.
    : public std::type_identity_t<model_types<Net, Where, P>> {
  using backend_type = placement_backend_t<Where>;
  using access = detail::model_access;
  static constexpr bool has_whole_parameters = !stores_shares<Where>;
  static constexpr bool computes_alone = !detail::kind_of<Where>::is_parts;
  static_assert(has_whole_parameters,
                "devplace: predictor: the model is in shares, and a predictor has all parameters on each place; name a "
                "placement that has them: predictor<net, on<cuda<0>>> p{model, batch<256>{}}.");
  static_assert(computes_alone,
                "devplace: predictor: the model is in parts, whose places exchange rows in a prediction; call "
                "model.predict(batch), or name one place: predictor<net, on<cuda<0>>> p{model, batch<256>{}}.");

 public:
  /// The type of `as_model()`.
  using model_type = model<Net, Where, P>;

  /// Copies the parameters and buffers of a model on any placement and in any precision, rounded as by `to<Where,
  /// P>(from)`. `largest` is a `batch<N>`. The copy is complete when the constructor returns.
  template <devplace::placement From, precision FromP, class... Largest>
  DEVPLACE_CONFIGURED predictor(const model<Net, From, FromP>& from, Largest... largest)
      : predictor(tile_of(largest...), to<Where, P>(from)) {}
  /// Takes over the parameters without a copy and frees the model's gradients. Copies if something else, such as a
  /// trainer, shares the model's memory.
  template <std::size_t Samples>
  DEVPLACE_CONFIGURED predictor(model_type&& from, batch<Samples> largest)
      : predictor(tile_of(largest), unshared(std::move(from))) {}

  /// Returns the outputs for a batch, as `model::predict`; allocates them.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto predict(const Batch& samples) const {
    return runtime::predicted<predictor, true>(samples,
                                               [&](auto& outputs, const auto& taken) { predict_into(outputs, taken); });
  }
  /// Calls predict: `predictor(x)`.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto operator()(const Batch& samples) const {
    return predict(samples);
  }
  /// Writes the outputs to a tensor or view, as `model::predict_into`; allocates nothing.
  template <class Output, class Batch>
  DEVPLACE_CONFIGURED void predict_into(Output&& outputs, const Batch& samples) const {
    runtime::predict_into<predictor>(access::live(model_), outputs, samples, tile_);
  }
  /// Returns predict_into's error as a code, as `model::try_predict_into`.
  [[nodiscard]] DEVPLACE_CONFIGURED std::error_code try_predict_into(auto&& outputs,
                                                                     const auto& samples) const noexcept {
    return error_code_of([&] { predict_into(outputs, samples); });
  }

  /// Copies the parameters and buffers of a model on any placement, for example after further training. Allocates
  /// nothing on the places. Complete when the call returns; no predictions may run concurrently.
  template <class From> DEVPLACE_CONFIGURED void assign(const model<Net, From, P>& other) { model_.assign(other); }

  /// Returns the placement, as the model's.
  static constexpr Where placement() { return {}; }

  /// Returns the parameters as a model to read from: `save_parameters(p.as_model(), file)`, `to<Where>(p.as_model())`
  /// for a copy that can be trained. Predict with the predictor: the model's tiles may exceed the planned memory.
  const model_type& as_model() const DEVPLACE_LIFETIMEBOUND { return model_; }

 private:
  friend struct detail::predictor_access;

  DEVPLACE_CONFIGURED predictor(std::size_t tile, model_type&& own) : model_(std::move(own)), tile_(tile) {
    auto& state = access::live(model_);
    detail::naming_bad_alloc("the predictor's memory", [&] {
      runtime::for_each_replica<backend_type>(state, local_place_count<Where>, [&](std::size_t k) {
        runtime::prepare_predictions<Net, P, backend_type>(state.replicas[k], state.workspaces, tile_);
      });
    });
  }

  template <std::size_t Samples> static constexpr std::size_t tile_of(batch<Samples> largest) {
    return runtime::rows_of_tile(largest, local_place_count<Where>);
  }
  template <class... Other> static constexpr std::size_t tile_of(const Other&...) {
    static_assert(detail::accepted<Other...>,
                  "devplace: predictor: give the model and the largest batch: predictor p{model, batch<256>{}}.");
    return 0;
  }
  /// Returns the model itself if nothing else shares its memory, else a copy.
  DEVPLACE_CONFIGURED static model_type unshared(model_type&& from) {
    const auto state = from.shared_state();
    if (state.use_count() > 2) return to<Where>(std::as_const(from));  // owners besides `state` and the model
    runtime::wait_for_model<backend_type>(*state);
    for (auto& r : state->replicas) r.gradients = {};
    return std::move(from);
  }
  /// Makes a model of zeros, calls `fill` to write its parameters, and returns the model.
  template <class Fill> DEVPLACE_CONFIGURED static model_type filled(const Fill& fill) {
    using mesh = detail::mesh_of<Where>;
    using plan = runtime::network_plan<Net>;
    auto own = detail::naming_bad_alloc("the predictor's parameters", [] {
      return access::adopt<model_type>(
          nn::detail::in_memory_of<Where>(runtime::empty_state<typename precision_traits<P>::storage, backend_type>(
              mesh::ordinals, {plan::parameter_elements, plan::buffer_elements, plan::frozen_elements})));
    });
    fill(own);
    return own;
  }

  model_type model_;
  std::size_t tile_;  ///< samples on each place
};

/// `predictor p{model, batch<256>{}}`.
template <class Net, class Where, class P, class... Largest>
predictor(const model<Net, Where, P>&, Largest...) -> predictor<Net, Where, P>;

}  // namespace devplace
