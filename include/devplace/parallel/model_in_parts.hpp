// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/config.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/model_parameters.hpp>
#include <devplace/nn/model_types.hpp>
#include <devplace/nn/strips.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/row_halos.hpp>
#include <devplace/place/in_parts.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/kept_workspaces.hpp>
#include <devplace/runtime/predict.hpp>
#include <devplace/runtime/working_copy.hpp>

namespace devplace {

/// A model whose images are split along their rows over the places, for activations that do not fit one device:
/// `model<net, in_parts<axis<2>, 0, 1>>`. Each place has all parameters, and a strip of the rows of every activation.
/// Before a convolution or pooling neighbouring places exchange the rows that its windows reach, and after its backward
/// pass the gradients of these rows. The rows of the input, and those of each activation, are a multiple of the number
/// of places. batch_norm has the statistics of whole images. The model is trained by a trainer alone. It predicts for
/// batches [n, channels, rows, columns] that are split along the rows, as the outputs are:
/// `model.predict(to_batch<Where>(images))`.
///
/// Initial values, names, files and checkpoints are those of the network on one place. Move-only.
template <nn::network Net, splits_rows InRows, precision P>
class model<Net, InRows, P>
    // Aliases, because Doxygen reports members of other instances of documented bases as not documented.
    : public std::type_identity_t<model_types<Net, InRows, P>>,
      public std::type_identity_t<model_parameters<Net, InRows, P>>,
      public runtime::joint_predictions<model<Net, InRows, P>> {
  using types = model_types<Net, InRows, P>;
  using base = model_parameters<Net, InRows, P>;
  using typename base::backend_type;
  static constexpr std::size_t places = local_place_count<InRows>;
  using run = runtime::engine<nn::strips<Net, places>, P, backend_type>;

 public:
  /// The types of batches and outputs (model_types).
  ///@{
  using typename types::batch_placement_type;
  using typename types::input_extents;
  using typename types::input_type;
  using typename types::output_extents;
  using typename types::output_type;
  ///@}
  /// The model that each place computes: copies of the parameters, and samples that are strips.
  using strips_type = model<nn::strips<Net, places>, detail::with_kind_t<InRows, copies>, P>;

  /// Initialises the parameters from the seed `start`. Waits for the places and throws their earlier failures.
  DEVPLACE_CONFIGURED explicit model(seed start) : base(strips_type(start).shared_state()) {}
  /// Transfers the arenas; a trainer of the moved-from model continues to train them.
  ///@{
  model(model&&) noexcept = default;
  model& operator=(model&&) noexcept = default;
  ///@}
  model(const model&) = delete;             // to<Where>(model) makes a copy
  model& operator=(const model&) = delete;  // assign(model) copies the parameters

  /// Refuses steps by hand.
  template <class Batch> auto forward(const Batch&) const {
    constexpr bool by_hand = sizeof(Batch) == 0;
    static_assert(by_hand, "devplace: a model in parts is trained by a trainer, in which the places exchange rows.");
    return detail::refusal{};
  }

 private:
  friend struct detail::model_access;
  friend runtime::joint_predictions<model>;
  explicit model(std::shared_ptr<typename base::state_type> state) : base(std::move(state)) {}

  DEVPLACE_CONFIGURED void predict_parts(auto& outputs, const auto& samples) const {
    auto& state = *this->live();
    const runtime::sole_use use(state);
    runtime::prepare_products<backend_type>();
    runtime::renew_working_copies<backend_type>(state);
    const auto ordinals = std::span<const int>(detail::mesh_of<InRows>::ordinals);
    parallel::row_halos<backend_type> halos(ordinals);
    parallel::direct<backend_type> sums(ordinals);
    using lease = runtime::kept_workspaces::lease<backend_type>;
    std::array<std::optional<lease>, places> leases;
    std::array<runtime::pass<P>, places> passes;
    std::array<runtime::reduction_request, places> requests;
    runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
      const std::size_t rows = runtime::checked_rows<typename run::input_extents>(detail::local_part(samples, k));
      const auto written = detail::local_part(outputs, k).extents();
      const auto expected = runtime::batch_extents<typename run::output_extents>(rows);
      if (!(written == expected)) runtime::throw_other_output(detail::sizes_of(written), detail::sizes_of(expected));
      runtime::require_separate(detail::local_part(outputs, k), detail::local_part(samples, k));
      void* const workspace = leases[k]
                                  .emplace(state.workspaces, state.replicas[k].ordinal)
                                  .at_least(run::workspace_bytes(rows, runtime::mode::predict));
      passes[k] = run::make_pass(state.replicas[k], workspace, rows, runtime::mode::predict, {});
      passes[k].samples = places * rows;
      passes[k].reduced = &requests[k];
    });
    for (std::size_t phase = 0; phase <= run::plan::reductions_per_pass; ++phase) {
      runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
        requests[k] = {};
        requests[k].rows = halos.of(k);
        passes[k].phase = phase;
        run::forward_phase(passes[k], detail::local_part(samples, k).data(), detail::local_part(outputs, k).data());
      });
      if (const auto rows = halos.requested(); !rows.empty()) halos.exchange(rows);
      if (requests[0].numbers == nullptr) continue;
      std::array<std::int64_t*, places> numbers;
      for (std::size_t k = 0; k != places; ++k) numbers[k] = requests[k].numbers;
      sums.all_reduce(std::span<std::int64_t* const>(numbers), requests[0].count, requests[0].op);
    }
  }
};

}  // namespace devplace
