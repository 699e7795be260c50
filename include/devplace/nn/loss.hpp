// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/place/detail/unprintable.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/undivided.hpp>
#include <devplace/runtime/unread_loss.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

namespace devplace::nn::detail {

/// Sums of bf16 elements are float, others of their own type.
template <class T>
using sum_of_t = std::conditional_t<floating_element<T>, T, float>;

/// The two sums of a loss on each place: of the (weighted) losses of the place's samples, and of their weights. For a
/// split batch they are summands, for a replicated one copies.
template <class T, class Batch>
using loss_sums_t =
    tensor<sum_of_t<T>, extents<2>,
           std::conditional_t<devplace::detail::rules_of<Batch>::split, gradient_placement_t<Batch>, Batch>>;

}  // namespace devplace::nn::detail

namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION {

/// The two sums of the whole batch, on the host; waits for the places from which they are read.
template <class T, class Batch>
std::array<double, 2> total_sums(const loss_sums_t<T, Batch>& sums) {
  std::array<double, 2> total{};
  constexpr std::size_t summands =
      devplace::detail::rules_of<Batch>::split ? local_place_count<Batch> : 1;  // every copy is whole
  for (std::size_t k = 0; k < summands; ++k) {
    const auto part = devplace::detail::local_part(sums, k);
    sum_of_t<T> here[2];
    devplace::detail::copy_out<typename decltype(part)::backend_type>(part.ordinal(), here, part.data(), sizeof here);
    for (std::size_t i = 0; i < 2; ++i)
      total[i] += static_cast<double>(here[i]);
  }
  return total;
}

}  // namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::nn {

/// A loss, which stays on the places where it was computed until `item()` reads it. `Batch` is the batch's placement.
template <class T, class Batch>
class loss_value : public runtime::unread_loss<> {
 public:
  /// Made from the sums on the batch's places.
  loss_value(detail::loss_sums_t<T, Batch>&& sums, reduction how) : sums_(std::move(sums)), how_(how) {}

  /// The loss of the whole batch on the host; waits for the places from which it is read. The mean over no samples is
  /// NaN, as in PyTorch.
  template <devplace::detail::configured = devplace::detail::configuration>
  detail::sum_of_t<T> item() const {
    const std::array<double, 2> total = detail::total_sums<T, Batch>(sums_);
    return runtime::loss_from<detail::sum_of_t<T>>(total[0], total[1], how_);
  }

  /// On each place: the sums of the samples' weighted losses and of their weights.
  const detail::loss_sums_t<T, Batch>& sums() const { return sums_; }

 private:
  detail::loss_sums_t<T, Batch> sums_;
  reduction how_;
};

/// The gradient of a loss with respect to the network's output, as a sum over samples that is not yet divided: the sum
/// of the samples' weights is passed along to the optimizer, which divides. So uneven parts of a batch add up exactly.
template <class T, extents_like Extents, class Batch>
struct loss_gradient {
  tensor<T, Extents, Batch> gradient;  ///< of the sum over samples, like the output
  detail::loss_sums_t<T, Batch> sums;  ///< of the samples' losses and of their weights
  reduction how;                       ///< whether the optimizer divides (mean) or not (sum)

  /// Refused: a mean's gradient is divided by the optimizer.
  ///@{
  template <class X, class FIX = THE_OPTIMIZER_DIVIDES_GRADIENTS_DO_NOT_SCALE_THEM>
  devplace::detail::refusal operator/(const X&) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNDIVIDED);
  template <class X, class FIX = THE_OPTIMIZER_DIVIDES_GRADIENTS_DO_NOT_SCALE_THEM>
  devplace::detail::refusal operator*(const X&) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNDIVIDED);
  template <class X, class FIX = THE_OPTIMIZER_DIVIDES_GRADIENTS_DO_NOT_SCALE_THEM>
  devplace::detail::refusal operator/=(const X&) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNDIVIDED);
  template <class X, class FIX = THE_OPTIMIZER_DIVIDES_GRADIENTS_DO_NOT_SCALE_THEM>
  devplace::detail::refusal operator*=(const X&) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNDIVIDED);
  ///@}
};

/// A gradient with respect to the outputs that the program has computed itself, for `model.backward`: an array with the
/// outputs' extents, placement and split, of a sum over the samples, which the optimizer does not divide.
template <class T, extents_like Extents, class Batch, devplace::detail::configured = devplace::detail::configuration>
loss_gradient<T, Extents, Batch> output_gradient(tensor<T, Extents, Batch>&& gradient) {
  detail::loss_sums_t<T, Batch> sums(extents<2>{});
  for (std::size_t k = 0; k < local_place_count<Batch>; ++k)
    fill(devplace::detail::local_part(sums, k), detail::sum_of_t<T>{0});
  return {std::move(gradient), std::move(sums), reduction::sum};
}

/// The result of a loss function: `auto [loss, gradient] = nn::cross_entropy{}(output, labels)`.
template <class T, extents_like Extents, class Batch>
struct [[nodiscard]] loss_result {
  loss_value<T, Batch> loss;                  ///< read by `item()`
  loss_gradient<T, Extents, Batch> gradient;  ///< for the model's backward
};

}  // namespace devplace::nn

namespace devplace::nn {

/// Requirements on a loss, the library's and a user's: a copyable struct with
/// - `reduction reduce`: whether the optimizer divides by the sum of the samples' weights (mean) or not (sum);
/// - `template <class T> struct bound`: the loss on one place in element type T, with
///   `void into(sums, gradient, rows, output, targets) const`. All are views on that place: of the network's `output`
///   [n, ...] and the `targets` [n, ...] of one place's part of a batch it writes the `gradient` of the sum of the
///   samples' losses with respect to the output, not divided, and into `sums` [2] that sum and the sum of the samples'
///   weights; `rows` [n] is workspace. Asynchronous, without allocation, also for n = 0;
/// - `template <class T, class Backend> bound<T> bind(int ordinal) const`: the loss for device `ordinal`, with the data
///   that it needs in the device's memory; throws argument_error for invalid options.
/// `sum_losses` of nn/sum_losses.hpp does what `into` must, given one sample's loss. A trainer takes the loss;
/// `evaluate_loss(*this, output, targets)` is the body of its operator(), for steps written in parts. A static constant
/// `takes_logits` or `takes_log_probabilities`, true, makes a trainer refuse networks that end in probabilities, and
/// `takes_class_numbers` targets that are not integers. docs/losses.md builds a loss.
template <class Loss>
concept loss = std::copyable<Loss> && requires(const Loss& l) {
  { l.reduce } -> std::convertible_to<reduction>;
  { l.template bind<float, backend::cpu>(0) } -> std::same_as<typename Loss::template bound<float>>;
  { l.template bind<double, backend::cpu>(0) } -> std::same_as<typename Loss::template bound<double>>;
};

/// Whether a loss on one place, its type `bound<T>`, computes the losses of such views, as far as its declaration says.
template <class Bound, class Sums, class Gradient, class Rows, class Output, class Targets>
concept computes_losses = requires(const Bound& bound, const Sums& sums, const Gradient& gradient, const Rows& rows,
                                   const Output& output, const Targets& targets) {
  { bound.into(sums, gradient, rows, output, targets) } -> std::same_as<void>;
};

}  // namespace devplace::nn

namespace devplace::nn::detail {

/// For rejected arguments, so that no other errors follow.
struct rejected_loss {
  devplace::detail::refusal loss;
  loss_gradient<float, extents<dyn>, on<cpu>> gradient;
};
rejected_loss no_loss();  // never called

#define DEVPLACE_DETAIL_LOSS_WITHOUT_INTO                                                                        \
  "devplace: this loss computes nothing of such an output and such targets: its type bound<T> needs `void into(" \
  "const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto& targets) const`; "  \
  "docs/losses.md builds a loss."

template <class X>
inline constexpr bool has_integers = false;
template <tensor_like X>
inline constexpr bool has_integers<X> = std::is_integral_v<typename X::value_type>;

}  // namespace devplace::nn::detail

namespace devplace::nn::inline DEVPLACE_CONFIGURATION {

/// Runs a loss on every place of a batch, and gives its value and its gradient.
template <loss Loss, class Output, class Targets>
auto evaluate_loss(const Loss& how, const Output& output, const Targets& targets) {
  constexpr bool tensors = tensor_like<Output> && tensor_like<Targets>, in_order = !detail::has_integers<Output>;
  static_assert(tensors,
                "devplace: a loss takes two tensors or views, the network's output and the targets; numbers in the "
                "host's memory, as in a std::vector, are viewed by wrap(values, extents<dyn>(n)).");
  static_assert(in_order,
                "devplace: a loss takes the network's output first and the targets second, and the elements of its "
                "first argument are integers, as labels are: nn::cross_entropy{}(output, labels).");
  if constexpr (!(tensors && in_order)) {
    return detail::no_loss();
  } else {
    using T = typename Output::value_type;
    using sum = detail::sum_of_t<T>;
    using batch = typename Output::placement_type;
    constexpr bool one_placement = std::is_same_v<batch, typename Targets::placement_type>,
                   whole = !devplace::detail::rules_of<batch>::partial;
    static_assert(one_placement,
                  "devplace: the loss's output and targets lie on different placements; move one with to<Where>, or "
                  "scatter<Where> the targets like the batch.");
    static_assert(whole,
                  "devplace: the loss's output and targets are partial, a summand on each place, and losses of "
                  "summands are not summands of the loss; make them whole first, all_reduce(x).");
    if constexpr (!(one_placement && whole)) {
      return detail::no_loss();
    } else {
      using extents_type = typename Output::extents_type;
      auto gradient = devplace::detail::make_like<T, batch>(output.extents(), output);
      detail::loss_sums_t<T, batch> sums(extents<2>{}), copy_of_sums(extents<2>{});
      for (std::size_t k = 0; k < local_place_count<batch>; ++k) {
        const auto part = devplace::detail::local_part(output, k);
        using backend_type = typename decltype(part)::backend_type;
        const auto bound = how.template bind<T, backend_type>(part.ordinal());
        const std::size_t rows = part.extent(0);
        const auto row_losses =
            devplace::detail::allocate<backend_type>(part.ordinal(), rows * sizeof(sum), memory_purpose::workspace);
        const auto workspace = devplace::detail::view_at<backend_type>(
            part.ordinal(), static_cast<sum*>(row_losses.data()), extents<dyn>{rows});
        const auto to = devplace::detail::local_part(sums, k);
        const auto gradient_part = devplace::detail::local_part(gradient, k);
        const auto targets_part = devplace::detail::local_part(targets, k);
        constexpr bool computes = computes_losses<decltype(bound), decltype(to), decltype(gradient_part),
                                                  decltype(workspace), decltype(part), decltype(targets_part)>;
        static_assert(computes, DEVPLACE_DETAIL_LOSS_WITHOUT_INTO);
        if constexpr (computes) bound.into(to, gradient_part, workspace, part, targets_part);
        copy(devplace::detail::local_part(copy_of_sums, k), to);
      }
      devplace::detail::wait_for_replicas<placement_backend_t<batch>>(devplace::detail::mesh_of<batch>::ordinals);
      return loss_result<T, extents_type, batch>{loss_value<T, batch>(std::move(sums), how.reduce),
                                                 {std::move(gradient), std::move(copy_of_sums), how.reduce}};
    }
  }
}

}  // namespace devplace::nn::inline DEVPLACE_CONFIGURATION

namespace devplace::nn::detail {

/// Multiplies elements by a number.
template <class T, class Factor>
struct scale_functor {
  T* data;
  Factor factor;
  DEVPLACE_HD void operator()(std::size_t i) const { data[i] = static_cast<T>(static_cast<Factor>(data[i]) * factor); }
};

inline namespace DEVPLACE_CONFIGURATION {

/// Makes a gradient of the sum of a batch's losses one of their mean, if that is the loss.
template <class DX, class T, class Extents, class Batch>
void divide_by_weights(DX& dx, const loss_gradient<T, Extents, Batch>& loss) {
  if (loss.how != reduction::mean) return;
  using factor_type = sum_of_t<T>;
  const double weights = total_sums<T, Batch>(loss.sums)[1];
  const factor_type factor = weights == 0 ? 0 : static_cast<factor_type>(1 / weights);
  for (std::size_t k = 0; k < local_place_count<Batch>; ++k) {
    const auto part = devplace::detail::local_part(dx, k);
    devplace::detail::for_each_index<typename decltype(part)::backend_type>(
        part.ordinal(), part.size(), 4096, scale_functor<T, factor_type>{part.data(), factor});
  }
}

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace::nn::detail

/// @cond Doxygen does not find what this specialises.
namespace devplace::detail {

template <class T, class Batch>
inline constexpr bool not_printed<nn::loss_value<T, Batch>> = true;

}  // namespace devplace::detail
/// @endcond
