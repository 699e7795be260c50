// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/unprintable.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/undivided.hpp>
#include <devplace/tensor/distributed.hpp>

namespace devplace::nn::detail {

/// The type of sums: float for bf16 and half, else the element type.
template <class T> using sum_of_t = std::conditional_t<floating_element<T>, T, float>;

/// Two sums on each place: of the weighted losses of the place's samples, and of the weights. Partial for a split
/// batch, replicated for a replicated batch.
template <class T, class Batch>
using loss_sums_t =
    tensor<sum_of_t<T>, extents<2>,
           std::conditional_t<devplace::detail::kind_of<Batch>::is_split, gradient_placement_t<Batch>, Batch>>;

}  // namespace devplace::nn::detail

namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the two sums of the whole batch; waits for the places that hold them.
template <class T, class Batch> std::array<double, 2> total_sums(const loss_sums_t<T, Batch>& sums) {
  std::array<double, 2> total{};
  constexpr std::size_t summands =
      devplace::detail::kind_of<Batch>::is_split ? local_place_count<Batch> : 1;  // every replica has the whole sums
  for (std::size_t k = 0; k < summands; ++k) {
    const auto part = devplace::detail::local_part(sums, k);
    sum_of_t<T> here[2];
    devplace::detail::copy_out<typename decltype(part)::backend_type>(part.ordinal(), here, part.data(), sizeof here);
    for (std::size_t i = 0; i < 2; ++i) total[i] += static_cast<double>(here[i]);
  }
  return total;
}

}  // namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::nn {

/// A loss that stays on the places that computed it until `item()` reads it. `Batch` is the batch's placement.
template <class T, class Batch> class loss_value : public runtime::unread_loss<> {
 public:
  /// Takes the sums on the batch's places.
  loss_value(detail::loss_sums_t<T, Batch>&& sums, reduction loss_reduction)
      : sums_(std::move(sums)), reduction_(loss_reduction) {}

  /// Returns the loss of the whole batch; waits for the places that hold the sums. The mean over no samples is NaN, as
  /// in PyTorch.
  DEVPLACE_CONFIGURED detail::sum_of_t<T> item() const {
    const std::array<double, 2> total = detail::total_sums<T, Batch>(sums_);
    return runtime::loss_from<detail::sum_of_t<T>>(total[0], total[1], reduction_);
  }

  /// Returns the sums on each place: of the samples' weighted losses and of their weights.
  const detail::loss_sums_t<T, Batch>& sums() const { return sums_; }

 private:
  detail::loss_sums_t<T, Batch> sums_;
  reduction reduction_;
};

/// The gradient of a loss with respect to the network's output, a sum over samples that is not yet divided. The
/// optimizer receives the sum of the samples' weights and divides by it, so that uneven parts of a batch add up
/// exactly.
template <class T, extents_like Extents, class Batch> struct loss_gradient {
  /// The placement of the batch.
  using batch_placement_type = Batch;

  tensor<T, Extents, Batch> gradient;  ///< gradient of the sum over samples, like the output
  detail::loss_sums_t<T, Batch> sums;  ///< sums of the samples' losses and of their weights
  devplace::reduction reduction;       ///< whether the optimizer divides (mean) or not (sum)

  /// Set by loss functions for the checks of backward: the address of the output on each place, and whether the loss
  /// takes logits or logarithms of probabilities.
  ///@{
  std::array<const void*, local_place_count<Batch>> outputs = {};
  bool of_probabilities_is_wrong = false;
  ///@}

  /// Scaling is rejected. Not inherited from runtime::undivided: a base needs braces of its own in an initializer list.
  ///@{
  template <class X> auto operator*(const X&) const { return runtime::reject_scaling<X>(); }
  template <class X> auto operator/(const X&) const { return runtime::reject_scaling<X>(); }
  template <class X> auto operator*=(const X&) const { return runtime::reject_scaling<X>(); }
  template <class X> auto operator/=(const X&) const { return runtime::reject_scaling<X>(); }
  ///@}
};

/// Wraps a gradient that the program computed itself, for `model.backward`. It must be the gradient of a sum over the
/// samples with respect to the outputs, with the outputs' extents, placement and split. The optimizer does not divide
/// it.
template <class T, extents_like Extents, class Batch>
DEVPLACE_CONFIGURED loss_gradient<T, Extents, Batch> output_gradient(tensor<T, Extents, Batch>&& gradient) {
  detail::loss_sums_t<T, Batch> sums(extents<2>{});
  for (std::size_t k = 0; k < local_place_count<Batch>; ++k)
    fill(devplace::detail::local_part(sums, k), detail::sum_of_t<T>{0});
  return {std::move(gradient), std::move(sums), reduction::sum};
}

/// The result of a loss function: `auto [loss, gradient] = nn::cross_entropy{}(output, labels)`.
template <class T, extents_like Extents, class Batch> struct [[nodiscard]] loss_result {
  loss_value<T, Batch> loss;                  ///< read by `item()`
  loss_gradient<T, Extents, Batch> gradient;  ///< argument of the model's backward

  /// Returns `loss.item()`, for results whose gradient is not needed.
  DEVPLACE_CONFIGURED detail::sum_of_t<T> item() const { return loss.item(); }
};

}  // namespace devplace::nn

/// @cond Doxygen does not find the primary template.
namespace devplace::detail {

template <class T, class Batch> inline constexpr bool not_printed<nn::loss_value<T, Batch>> = true;

}  // namespace devplace::detail
/// @endcond
