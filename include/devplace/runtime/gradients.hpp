// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/undivided.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/summand_view.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

/// The placement of the gradients of a model on `Where` for a batch on `Batch`: partial for a split batch, and whole on
/// each place for a replicated batch.
template <placement Where, placement Batch>
using gradient_placement_from_t = std::conditional_t<std::is_same_v<Batch, Where>, Where, gradient_placement_t<Where>>;

namespace runtime {

/// Access for backward and collectives, which know whether gradients are whole.
struct gradient_access {
  /// Leases the arenas of the model with this state; `loss_reduction` is the loss's reduction.
  template <class Gradients>
  static Gradients lease(std::shared_ptr<typename Gradients::state_type> state, devplace::reduction loss_reduction) {
    return Gradients(std::move(state), loss_reduction);
  }
  /// Converts the lease to another placement.
  template <placement Other, class Net, class Where, class P>
  static gradients<Net, Other, P> as(gradients<Net, Where, P>&& lease) {
    static_cast<void>(lease.arena());
    return gradients<Net, Other, P>(std::move(lease.state_), lease.reduction_);
  }
};

}  // namespace runtime

/// A lease of a model's gradient arenas, from `model.backward`. Move-only. While the lease exists, another backward is
/// an error, unless it receives the lease and accumulates. `Where` is the gradients' placement. For a replicated model
/// and a split batch, `Where` is `partial` until `synchronize` makes the gradients whole; optimizers do not accept
/// partial gradients. For a replicated batch, whose whole gradient every place computes, `Where` is `replicated`.
/// Gradients are sums over the samples; the optimizer divides by the sum of the samples' weights, which follows the
/// gradients in the arena. Only one thread at a time may use the lease.
template <class Net, placement Where, precision P> class [[nodiscard]] gradients : public runtime::undivided {
  using T = typename precision_traits<P>::gradient;

 public:
  /// The template's arguments.
  ///@{
  using network_type = Net;
  using placement_type = Where;
  using precision_type = P;
  ///@}
  /// The element type of the gradients.
  using value_type = T;
  /// The state of the model.
  using state_type = runtime::model_state<typename precision_traits<P>::storage>;

  /// Transfers the lease.
  gradients(gradients&&) noexcept = default;
  gradients& operator=(gradients&&) = delete;
  /// Returns the lease: the model may run backward again.
  ~gradients() {
    if (state_ != nullptr) state_->gradients_out = false;
  }

  /// Whether the optimizer divides by the sum of weights (mean) or not (sum).
  devplace::reduction reduction() const { return reduction_; }

  /// Gradient number `Index` (in the order of the model's `parameter_names()`) on place `k` of the placement: a sum
  /// over samples, not yet divided. Before `synchronize` the result is a summand_view, since other places hold the
  /// other summands. On several places the view is read-only.
  ///@{
  template <std::size_t Index> DEVPLACE_CONFIGURED auto local(std::size_t k = 0) {
    if constexpr (single_place<Where>)
      return window<T, Index>(k);
    else
      return std::as_const(*this).template local<Index>(k);
  }
  template <std::size_t Index> DEVPLACE_CONFIGURED auto local(std::size_t k = 0) const {
    if constexpr (detail::kind_of<Where>::is_summands)
      return summand_view(window<const T, Index>(k));
    else
      return window<const T, Index>(k);
  }
  ///@}

  /// Returns gradient `Index` on place `k` as an ordinary view, for a program's own collectives. The gradient may be a
  /// summand or one of several replicas.
  ///@{
  template <std::size_t Index> DEVPLACE_CONFIGURED auto only_on(std::size_t k) { return window<T, Index>(k); }
  template <std::size_t Index> DEVPLACE_CONFIGURED auto only_on(std::size_t k) const {
    return window<const T, Index>(k);
  }
  ///@}

  /// The model's arenas; throws if the lease was moved from.
  state_type& arena() const {
    if (state_ == nullptr)
      throw error("these gradients were moved from; use the lease that synchronize or backward returned.");
    return *state_;
  }

 private:
  friend struct runtime::gradient_access;

  gradients(std::shared_ptr<state_type> state, devplace::reduction loss_reduction)
      : state_(std::move(state)), reduction_(loss_reduction) {
    state_->gradients_out = true;
  }

  template <class Element, std::size_t Index> DEVPLACE_CONFIGURED auto window(std::size_t k) const {
    using entry = typename runtime::network_plan<Net>::template parameter_at<Index>;
    constexpr bool trained = !entry::frozen;
    static_assert(trained, "devplace: gradients: this parameter is frozen, and has no gradient.");
    const auto& replica = runtime::replica_at(arena(), k);
    return detail::view_at<placement_backend_t<Where>, Element>(
        replica.ordinal, replica.gradient_data() + entry::offset, typename entry::extents{});
  }

  std::shared_ptr<state_type> state_;
  devplace::reduction reduction_;
};

}  // namespace devplace
