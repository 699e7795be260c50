// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <system_error>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/error_code.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operand.hpp>
#include <devplace/ops/planning.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/kept_workspaces.hpp>
#include <devplace/runtime/working_copy.hpp>
#include <devplace/tensor/distributed.hpp>

// Predictions run in tiles of rows: the workspace of a tile stays in the caches of a CPU and has a size that does not
// depend on the batch.

namespace devplace::runtime {

/// Default number of rows in a tile on each place.
template <class Backend> inline constexpr std::size_t tile_rows = std::is_same_v<Backend, backend::cpu> ? 1024 : 16384;

template <std::size_t Samples> constexpr std::size_t rows_of_tile(batch<Samples>, std::size_t places) {
  static_assert(Samples > 0, "devplace: predict_into: a tile has at least one sample; give a batch<N> with N above 0.");
  return devplace::detail::divided_up(Samples, places);
}

template <class Net, class P> constexpr std::size_t tile_bytes(std::size_t rows) {
  return pass_layout<Net, P>::workspace_bytes(rows, mode::predict);
}

/// Bytes in front of the workspace that hold the samples of a tile if the batch is a view with strides.
template <class Net, class P> constexpr std::size_t packed_tile_bytes(std::size_t rows) {
  using layout = pass_layout<Net, P>;
  return padded_bytes(rows * sample_size<typename layout::input_extents> * sizeof(typename layout::input_element));
}

/// Throws if a place's outputs `y` share memory with its samples `x`, both row-major.
template <class Y, class X> void require_separate(const Y& y, const X& x) {
  if (devplace::detail::share_memory(y.data(), y.size() * sizeof(*y.data()), x.data(), x.size() * sizeof(*x.data())))
    throw argument_error("predict_into: the result shares memory with the batch; give the result separate memory.");
}

/// Computes one replica's outputs `y` for its rows `x`. Views with strides are copied tile by tile; other views are
/// read and written directly.
template <class Net, class P, class Backend, class Y, class X>
void predict_rows(const typename engine<Net, P, Backend>::replica_type& r, kept_workspaces& memory, std::size_t tile,
                  const Y& y, const X& x) {
  using run = engine<Net, P, Backend>;
  using input = typename run::input_element;
  const std::size_t rows = checked_rows<typename run::input_extents>(x);
  if (rows == 0) return;
  if constexpr (X::is_row_major && Y::is_row_major) require_separate(y, x);
  constexpr std::size_t from_one = sample_size<typename run::input_extents>;
  constexpr std::size_t to_one = sample_size<typename run::output_extents>;
  const auto packed_input = [](std::size_t n) { return X::is_row_major ? 0 : packed_tile_bytes<Net, P>(n); };
  prepare_products<Backend>();
  kept_workspaces::lease<Backend> lease(memory, r.ordinal);
  std::byte* const workspace = static_cast<std::byte*>(lease.at_least(tile_bytes<Net, P>(tile) + packed_input(tile)));
  for (std::size_t first = 0; first < rows; first += tile) {
    const std::size_t last = first + std::min(tile, rows - first);
    const auto p = run::make_pass(r, workspace + packed_input(tile), last - first, mode::predict, {});
    const input* from = nullptr;
    if constexpr (X::is_row_major) {
      from = x.data() + first * from_one;
    } else {
      const auto part = x.slice(first, last);
      auto* const packed = static_cast<input*>(static_cast<void*>(workspace));
      assign(devplace::detail::view_at<Backend>(r.ordinal, packed, part.extents()), part);
      from = packed;
    }
    if constexpr (Y::is_row_major) {
      run::forward(p, from, y.data() + first * to_one);
    } else {
      run::forward(p, from, run::output_of(p));
      const auto part = y.slice(first, last);
      const typename run::output_element* const packed = run::output_of(p);
      assign(part, devplace::detail::view_at<Backend>(r.ordinal, packed, part.extents()));
    }
  }
}

/// Allocates the memory of one replica's predictions in tiles of `tile` rows, and makes the libraries' plans for a
/// whole tile.
template <class Net, class P, class Backend>
void prepare_predictions(const typename engine<Net, P, Backend>::replica_type& r, kept_workspaces& memory,
                         std::size_t tile) {
  prepare_products<Backend>();
  const std::size_t packed = packed_tile_bytes<Net, P>(tile);
  kept_workspaces::lease<Backend> lease(memory, r.ordinal);
  [[maybe_unused]] auto* const workspace = static_cast<std::byte*>(lease.at_least(tile_bytes<Net, P>(tile) + packed));
  if constexpr (devplace::detail::provided<Backend, op::planning>) {
    using run = engine<Net, P, Backend>;
    const devplace::detail::planning_scope<Backend> plans_only;
    auto p = run::make_pass(r, workspace + packed, tile, mode::predict, {});
    p.planning = true;
    run::forward(p, static_cast<const typename run::input_element*>(static_cast<void*>(workspace)));
  }
}

// Not a template, so that the message is compiled once.
[[noreturn]] inline void throw_other_output(std::span<const std::size_t> actual,
                                            std::span<const std::size_t> expected) {
  throw shape_error({"predict_into: the result is ", devplace::detail::sizes_text(actual),
                     ", and the outputs for this batch are ", devplace::detail::sizes_text(expected), "."});
}

/// Throws shape_error, or fails to compile, unless the outputs of `Model` for `samples` fit into `output`. A model in
/// parts checks the rows of each part itself, because outputs may have other rows than samples.
template <class Model, class Output, class Batch> void check_output(Output& output, const Batch& samples) {
  using extents_type = devplace::detail::prepend_t<dyn, typename Model::output_extents>;
  static_assert(std::is_same_v<typename Output::placement_type, typename Batch::placement_type>,
                "devplace: predict_into: the result and the batch lie on different placements; make the result where "
                "the batch is, and move it afterwards.");
  static_assert(!std::is_const_v<typename decltype(devplace::detail::erased_local_view(output, 0))::element_type>,
                "devplace: predict_into: the result's elements are const; pass a tensor or view to write to.");
  static_assert(std::is_same_v<typename Output::value_type, typename Model::output_type>,
                "devplace: predict_into: the result's element type is not that of the outputs, model::output_type.");
  static_assert(devplace::detail::compatible<typename Output::extents_type, extents_type>,
                "devplace: predict_into: the result must be [n, output extents...] for a batch of n samples.");
  const auto expected = batch_extents<typename Model::output_extents>(samples.extent(0));
  if (!(output.extents() == expected))
    throw_other_output(devplace::detail::sizes_of(output.extents()), devplace::detail::sizes_of(expected));
  if constexpr (devplace::detail::kind_of<typename Batch::placement_type>::is_split &&
                !devplace::detail::kind_of<typename Model::placement_type>::is_parts)
    devplace::detail::require_same_split("predict_into", output, samples);
}

template <class Model>
using typical_outputs = tensor<typename Model::output_type, decltype(batch_extents<typename Model::output_extents>(0)),
                               typename Model::batch_placement_type>;

inline namespace DEVPLACE_CONFIGURATION {

/// Computes the outputs of `Model` for `samples` in tiles of `tile` rows on each place. `tile` 0 means tile_rows, but
/// at most the number of samples.
template <class Model, class State, class Output, class Batch>
void predict_tiles(State& state, Output& outputs, const Batch& samples, std::size_t tile = 0) {
  using backend_type = placement_backend_t<typename Model::placement_type>;
  if (tile == 0) tile = std::min(tile_rows<backend_type>, samples.extent(0));
  renew_working_copies<backend_type, true>(state);
  for_each_replica<backend_type>(state, local_place_count<typename Model::placement_type>, [&](std::size_t k) {
    predict_rows<typename Model::network_type, typename Model::precision_type, backend_type>(
        state.replicas[k], state.workspaces, tile, devplace::detail::erased_local_view(outputs, k),
        devplace::detail::erased_local_view(samples, k));
  });
}

/// Returns uninitialised outputs of `Model` for a batch, with the batch's placement and split. The rows of a model in
/// parts are split evenly.
template <class Model, class Batch> auto outputs_for(const Batch& samples) {
  const auto sizes = batch_extents<typename Model::output_extents>(samples.extent(0));
  if constexpr (devplace::detail::kind_of<typename Model::placement_type>::is_parts)
    return typical_outputs<Model>(sizes);
  else
    return devplace::detail::make_like<typename Model::output_type, typename Batch::placement_type>(sizes, samples);
}
/// Returns the outputs of `Model` for a batch, which may be an expression; calls compute(outputs, samples) to write
/// them. `Whole` also permits a batch that is replicated over the places.
template <class Model, bool Whole, class Batch> auto predicted(const Batch& samples, const auto& compute) {
  if constexpr (devplace::detail::is_expression_type<Batch>) {
    return predicted<Model, Whole>(evaluated(samples), compute);
  } else if constexpr (accepts_batch<Model, Batch, Whole>()) {
    auto outputs = outputs_for<Model>(samples);
    compute(outputs, samples);
    return outputs;
  } else {
    return rejected<typical_outputs<Model>>();
  }
}

template <class Model, class State, class Output, class Batch>
void predict_into(State& state, Output& outputs, const Batch& samples, std::size_t tile) {
  constexpr bool is_tensor = tensor_like<Output>;
  static_assert(is_tensor,
                "devplace: predict_into: the result is a tensor or view to write to; numbers elsewhere in the host's "
                "memory, as in a std::vector, are viewed by wrap(values, extents<dyn, 1>(n)).");
  if constexpr (is_tensor && accepts_batch<Model, Batch, true>()) {
    check_output<Model>(outputs, samples);
    predict_tiles<Model>(state, outputs, samples, tile);
  }
}

}  // namespace DEVPLACE_CONFIGURATION

/// Base of models whose places compute together, each its whole part of a batch at once. `Model` has a function
/// `predict_parts(outputs, samples)`, which gets checked arguments.
template <class Model> class joint_predictions {
 public:
  /// Returns the outputs for a batch, placed and split like the batch. One thread at a time predicts.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto predict(const Batch& samples) const {
    return predicted<Model, false>(samples, [&](auto& outputs, const auto& taken) { predict_into(outputs, taken); });
  }
  /// Calls predict: `model(x)`.
  template <class Batch> [[nodiscard]] DEVPLACE_CONFIGURED auto operator()(const Batch& samples) const {
    return predict(samples);
  }
  /// Writes the outputs to a tensor that is placed and split like the batch.
  DEVPLACE_CONFIGURED void predict_into(auto&& outputs, const auto& samples) const {
    if constexpr (accepts_batch<Model, std::remove_cvref_t<decltype(samples)>, false>()) {
      check_output<Model>(outputs, samples);
      static_cast<const Model&>(*this).predict_parts(outputs, samples);
    }
  }
  /// Returns predict_into's error as a code, as other models do.
  [[nodiscard]] DEVPLACE_CONFIGURED std::error_code try_predict_into(auto&& outputs,
                                                                     const auto& samples) const noexcept {
    return error_code_of([&] { predict_into(outputs, samples); });
  }
};

}  // namespace devplace::runtime
