// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <devplace/nn/detail/engine.hpp>
#include <devplace/nn/detail/replica.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// A lease of a model's gradient arenas, from `model.backward`. Move-only; while it exists, another backward is an
/// error unless the lease is handed to it, which adds. `Where` is the gradients' placement: `partial` for a replicated
/// model until `synchronize` makes them whole, and an optimizer takes no partial ones. They are sums over the samples;
/// the optimizer divides by the sum of the samples' weights that lies behind them.
template <class Net, placement Where, class T>
class gradients {
 public:
  /// The template's arguments.
  ///@{
  using network_type = Net;
  using placement_type = Where;
  using value_type = T;
  ///@}

  /// Takes the lease of the model with this state; `how` is the loss's reduction.
  gradients(std::shared_ptr<nn::detail::model_state<T>> state, reduction how) : state_(std::move(state)), how_(how) {
    state_->gradients_out = true;
  }
  /// Hands the lease over.
  gradients(gradients&&) noexcept = default;
  gradients& operator=(gradients&&) = delete;
  /// Gives the lease back: the model may run backward again.
  ~gradients() {
    if (state_ != nullptr) state_->gradients_out = false;
  }

  /// Whether the optimizer divides by the sum of weights (mean) or not (sum).
  reduction how() const { return how_; }

  /// Gradient number `Index` (in the order of the model's `parameter_names()`) on place `k` of the placement: a sum
  /// over samples, not yet divided.
  template <std::size_t Index>
  auto local(std::size_t k = 0) const {
    using entry = nn::detail::parameter_at<Net, Index>;
    using where = here<placement_backend_t<Where>>;
    const auto& replica = arena().replicas.at(k);
    return view<T, typename entry::extents, where>{
        replica.gradient_data() + entry::offset, {}, detail::device_of<where>{replica.ordinal}};
  }

  /// The model's arenas; throws where the lease was moved away.
  nn::detail::model_state<T>& arena() const {
    if (state_ == nullptr)
      throw error("these gradients were moved from; use the lease that synchronize or backward returned.");
    return *state_;
  }

  /// The lease under another placement, for collectives.
  template <placement Other>
  gradients<Net, Other, T> release() && {
    arena();
    return gradients<Net, Other, T>(std::move(state_), how_);
  }

 private:
  std::shared_ptr<nn::detail::model_state<T>> state_;
  reduction how_;
};

}  // namespace devplace
