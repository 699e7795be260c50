// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::nn {

namespace detail {

/// Takes the place of `Held` if the caller keeps the batch alive.
struct nothing {};

}  // namespace detail

/// The data that forward saves for backward: move-only, used once; backward rejects a moved-from object. The type names
/// the network, its placement and precision, and the placement of the batch.
template <class Net, placement Where, precision P, placement Batch, class Held> class [[nodiscard]] saved {
  using state_type = runtime::model_state<typename precision_traits<P>::storage>;
  static constexpr std::size_t places = local_place_count<Where>;

 public:
  /// The placement of the batch.
  using batch_placement_type = Batch;

  /// Called by `model.forward`, which fills the object.
  explicit saved(std::shared_ptr<state_type> state) : state_(std::move(state)), updates_(state_->updates) {}

  /// Stores place k's workspace and pass, and the addresses of the place's parts of the batch and of the output.
  void keep(std::size_t k, devplace::detail::memory_block&& workspace, const runtime::pass<P>& p, const void* input,
            const void* output) {
    workspaces_[k] = std::move(workspace);
    passes_[k] = p;
    inputs_[k] = input;
    outputs_[k] = output;
  }
  /// Stores a temporary batch.
  void hold(Held&& batch) { held_.emplace(std::move(batch)); }

  /// Returns place k's pass.
  const runtime::pass<P>& pass(std::size_t k) const { return passes_[k]; }
  /// Returns the address of place k's part of the batch.
  const void* input(std::size_t k) const { return inputs_[k]; }
  /// Returns the address of place k's part of the output, whose memory belongs to the caller of forward.
  const void* output(std::size_t k) const { return outputs_[k]; }

  /// Throws if the object was used before, belongs to another model, or does not match the current parameters.
  void check(const state_type* state) const {
    if (state_ == nullptr)
      throw error("backward: these saved activations were used by an earlier backward; run forward again.");
    if (state_.get() != state)
      throw error("backward: these saved activations belong to another model; pass what this model's forward saved.");
    if (state_->updates != updates_)
      throw error("backward: an optimizer has changed the parameters since forward; run forward again.");
  }

 private:
  std::shared_ptr<state_type> state_;
  std::uint64_t updates_;
  std::array<devplace::detail::memory_block, places> workspaces_;
  std::array<runtime::pass<P>, places> passes_{};
  std::array<const void*, places> inputs_{}, outputs_{};
  std::optional<Held> held_;
};

/// The result of `model.forward`.
template <class Output, class Saved> struct [[nodiscard]] forward_result {
  Output output;  ///< [batch, output extents...] on the batch's placement
  Saved saved;    ///< argument of backward
};

/// The result of `model.backward_to_input`.
template <class Gradients, class Input> struct [[nodiscard]] backward_result {
  Gradients gradients;  ///< gradients of the parameters, as from backward
  Input input;          ///< gradient of the batch: [batch, input extents...] on the batch's placement
};

}  // namespace devplace::nn
