// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include <devplace/base/error_code.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/nn/detail/backward.hpp>
#include <devplace/nn/detail/initial_state.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model_parameters.hpp>
#include <devplace/nn/model_types.hpp>
#include <devplace/nn/saved.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/place/spread.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/predict.hpp>
#include <devplace/runtime/working_copy.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// Rejects template arguments that do not fit.
template <class Net, class Where, class P> class model {
  static constexpr bool arguments_fit = std::is_class_v<Net> && placement<Where> && precision<P>;
  static_assert(arguments_fit,
                "devplace: model: its arguments are a network, a placement and, if it is not float, a precision "
                "(double, tf32, mixed<bf16>, mixed<half>): model<net, on<cpu>>, model<net, replicated<0, 1>, double>.");
  static_assert(!arguments_fit || nn::detail::knows_input<Net>, DEVPLACE_DETAIL_UNKNOWN_INPUT);
  static constexpr bool has_header = !arguments_fit || !nn::detail::knows_input<Net> || !stores_shares<Where>;
  static_assert(has_header,
                "devplace: model: for a model in shares write #include <devplace/fully_sharded.hpp>, which is not a "
                "part of all.hpp.");

 public:
  /// Accepts any arguments, so that no further error follows.
  template <class... Any> explicit model(const Any&...) {}
};

/// The parameters of `Net` on `Where`: `model<net, on<cpu>>`, `model<net, replicated<0, 1>>`. `P` is the precision:
/// `float`, `double`, `tf32` (elements are float), `mixed<bf16>` or `mixed<half>`. Each place has one arena, with a
/// layout known at compile time. A seed determines the initial values, which are equal on every placement and have the
/// distributions of PyTorch's layers. Move-only. Several threads may call predict and read parameters of a const model
/// concurrently. Trainers, forward, backward, optimizers and assign need exclusive use: concurrent calls throw.
template <class Net, placement Where, precision P>
  requires(nn::network<Net> && stores_all<Where>)
class model<Net, Where, P> : public model_types<Net, Where, P>, public model_parameters<Net, Where, P> {
  using base = model_parameters<Net, Where, P>;
  using base::live;
  using base::state_;
  using typename base::backend_type;
  using typename base::plan;
  using typename base::roles;
  using mesh = detail::mesh_of<Where>;
  static_assert(detail::kind_of<Where>::is_whole,
                "devplace: a model's placement is on<P> or replicated<...>; batches are sharded, not models.");

 public:
  /// The result of backward for a loader's batch.
  using gradient_type = gradients<Net, gradient_placement_t<Where>, P>;

  /// Initialises the parameters from the seed `start`. Waits for the places and throws earlier failures of the places.
  DEVPLACE_CONFIGURED explicit model(seed start)
      : base(detail::naming_bad_alloc("the model", [&] {
          return nn::detail::in_memory_of<Where>(
              nn::detail::drawn_state<Net, typename roles::storage, backend_type>(mesh::ordinals, start.value));
        })) {}

  /// Transfers the arenas; a trainer of the moved-from model continues to train them. After a move assignment, trainers
  /// of the assigned-to model throw; use assign() to copy instead.
  ///@{
  model(model&&) noexcept = default;
  model& operator=(model&&) noexcept = default;
  ///@}
  model(const model&) = delete;             // to<Where>(model) makes a copy
  model& operator=(const model&) = delete;  // assign(model) copies the parameters
  model() = delete;                         // give a seed: model{seed{1}}
  explicit model(double) = delete;          // give a seed: model{seed{1}}

  /// Returns the outputs for a batch; saves nothing for backward and switches random layers off. The batch is [n, input
  /// extents...] of input_type; the axes of a sample may be flattened. It may be an expression, and on one place a view
  /// of any layout. On several places it is either split or replicated; every place computes all of a replicated batch.
  /// The outputs have the batch's placement and split.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto predict(const Batch& samples) const {
    return runtime::predicted<model, true>(samples, [&](auto& outputs, const auto& taken) {
      plan::template compile_layers<backend_type, typename plan::template first_element<P>, P, false>(
          typename plan::indices{});
      runtime::predict_tiles<model>(*live(), outputs, taken);
    });
  }
  /// Calls predict: `model(x)`.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto operator()(const Batch& samples) const {
    return predict(samples);
  }

  /// Writes the outputs to a tensor or view of any layout, [n, output extents...] of output_type, placed and split like
  /// the batch: `model.predict_into(outputs, samples)`. Computes tiles of 1,024 samples on each CPU place, and of
  /// 16,384 samples on each other place. A third argument gives the number of samples of a tile over all places:
  /// `model.predict_into(outputs, samples, batch<4096>{})`. The model keeps the workspace of a whole tile; later calls,
  /// even with more samples, allocate only if no workspace of this size and stream is idle. For few samples give a
  /// small tile. `memory_plan<model, batch<4096>>` has the size of the workspace. Several threads may predict with one
  /// model. Outputs and batch must not share elements (throws argument_error if both are row-major).
  ///@{
  DEVPLACE_CONFIGURED void predict_into(auto&& outputs, const auto& samples) const {
    runtime::predict_into<model>(*live(), outputs, samples, runtime::tile_rows<backend_type>);
  }
  template <class Output, class Batch, std::size_t Samples>
  DEVPLACE_CONFIGURED void predict_into(Output&& outputs, const Batch& samples, batch<Samples> tile) const {
    runtime::predict_into<model>(*live(), outputs, samples, runtime::rows_of_tile(tile, local_place_count<Where>));
  }
  ///@}
  /// Calls predict_into and returns its error as a code instead of throwing it; `last_error_message()` is the text:
  /// `if (const std::error_code failed = model.try_predict_into(outputs, samples)) ...`.
  template <class... Tile>
  [[nodiscard]] DEVPLACE_CONFIGURED std::error_code try_predict_into(auto&& outputs, const auto& samples,
                                                                     Tile... tile) const noexcept {
    return error_code_of([&] { predict_into(outputs, samples, tile...); });
  }

  /// Returns the outputs for a batch, and the data for backward: `auto [out, saved] = model.forward(x)`. `saved` keeps
  /// a temporary batch; any other batch must exist unchanged until backward.
  template <class Batch> DEVPLACE_CONFIGURED auto forward(Batch&& batch) {
    using batch_type = std::remove_cvref_t<Batch>;
    if constexpr (nn::detail::accepts_forward<model, batch_type>()) {
      using held = std::conditional_t<std::is_lvalue_reference_v<Batch>, nn::detail::nothing, batch_type>;
      auto& state = *live();
      const runtime::sole_use use(state);
      nn::saved<Net, Where, P, typename batch_type::placement_type, held> saved(state_);
      auto output = runtime::outputs_for<model>(batch);
      runtime::renew_working_copies<backend_type>(state);
      const nn::random_key key{state.seed, state.step++, 0, 0};
      runtime::for_each_replica<backend_type>(state, local_place_count<Where>, [&](std::size_t k) {
        const auto x = detail::local_part(batch, k);
        detail::memory_block workspace;
        const auto p = runtime::run_forward<Net, P, backend_type>(
            state.replicas[k], x, workspace, runtime::key_of_part(key, batch, k), detail::local_part(output, k));
        saved.keep(k, std::move(workspace), p, x.data(), detail::local_part(output, k).data());
      });
      if constexpr (!std::is_same_v<held, nn::detail::nothing>) saved.hold(std::move(batch));
      return nn::forward_result<decltype(output), decltype(saved)>{std::move(output), std::move(saved)};
    } else {
      using saved_type = nn::saved<Net, Where, P, batch_placement_t<Where>, nn::detail::nothing>;
      return runtime::rejected<nn::forward_result<runtime::typical_outputs<model>, saved_type>>();
    }
  }

  /// Computes the gradients of the parameters from forward's `saved` and the gradient of a loss; consumes `saved`.
  /// Throws while another lease of this model's gradients exists. Throws argument_error if the loss was not computed
  /// from forward's output; gradients of `nn::output_gradient` are not checked. A split batch gives partial gradients,
  /// for `synchronize`; a replicated batch gives whole gradients, bitwise equal on every place.
  template <class Saved, class Loss> DEVPLACE_CONFIGURED auto backward(Saved&& saved, const Loss& loss) {
    if constexpr (nn::detail::accepts_backward<model, Saved, Loss>()) {
      const runtime::sole_use use(*live());
      auto lease = nn::detail::leased_gradients<model, Saved>(state_, loss.reduction);
      nn::detail::run_backward(state_, std::move(saved), loss, false);
      return lease;
    } else {
      return runtime::rejected<gradient_type>();
    }
  }

  /// Like backward, and also computes the gradient of the loss with respect to the batch: `auto [gradients, dx] =
  /// model.backward_to_input(std::move(saved), gradient)`. dx is [n, input extents...], placed and split like the
  /// batch; in mixed precision its elements have the 16-bit type. For the mean of losses, dx is divided by the sum of
  /// the samples' weights; the call reads this sum from the places and therefore waits.
  template <class Saved, class Loss> DEVPLACE_CONFIGURED auto backward_to_input(Saved&& saved, const Loss& loss) {
    if constexpr (nn::detail::accepts_backward_to_input<model, Saved, Loss>()) {
      const runtime::sole_use use(*live());
      auto lease = nn::detail::leased_gradients<model, Saved>(state_, loss.reduction);
      auto dx = detail::make_like<element_of_t<P>, typename Saved::batch_placement_type>(
          runtime::batch_extents<typename plan::input>(loss.gradient.extent(0)), loss.gradient);
      nn::detail::run_backward(state_, std::move(saved), loss, false,
                               [&](std::size_t k) { return detail::local_part(dx, k).data(); });
      nn::detail::divide_by_weights(dx, loss);
      return nn::backward_result<decltype(lease), decltype(dx)>{std::move(lease), std::move(dx)};
    } else {
      return runtime::rejected<nn::backward_result<gradient_type, runtime::typical_outputs<model>>>();
    }
  }

  /// Like backward, but adds to the gradients of an earlier backward. Both gradients must be partial, or both whole.
  template <class Saved, class Loss, class EarlierWhere>
  DEVPLACE_CONFIGURED auto backward(Saved&& saved, const Loss& loss, gradients<Net, EarlierWhere, P>&& earlier) {
    if constexpr (nn::detail::accepts_backward<model, Saved, Loss, EarlierWhere>()) {
      this->check_lease(earlier);
      const runtime::sole_use use(*live());
      if (earlier.reduction() != loss.reduction)
        throw error("backward: gradients of a mean and of a sum cannot be added; use one reduction for both losses.");
      nn::detail::run_backward(state_, std::move(saved), loss, true);
      return std::move(earlier);
    } else {
      return runtime::rejected<gradient_type>();
    }
  }

 private:
  friend struct detail::model_access;
  explicit model(std::shared_ptr<typename base::state_type> state) : base(std::move(state)) {}
};

namespace detail {

template <class Net, class Where, class P> inline constexpr bool not_printed<model<Net, Where, P>> = true;

}  // namespace detail
}  // namespace devplace
