// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/loss_result.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/round_elements.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace::nn {

/// Requirements on every loss, whether of the library or of a user: a copyable struct with
/// - `reduction reduce`: whether the optimizer divides by the sum of the samples' weights (mean) or not (sum);
/// - `template <class T> struct bound`: the loss on one place in element type T, with `void into(sums, gradient, rows,
///   output, targets) const`, whose arguments are views on that place. `into` reads one place's part of the network's
///   `output` [n, ...] and of the `targets` [n, ...]. It writes to `sums` [2] the sum of the samples' losses and the
///   sum of the samples' weights. It writes to `gradient` the derivative of the undivided sum of losses with respect to
///   the output. `rows` [n] is workspace. `into` is asynchronous, does not allocate, and accepts n = 0. If `bound` has
///   a static constant `of_last_axis` = true, each row along the output's last axis has a loss and an element of
///   `rows`. If it has a type `overwrites_output`, itself, `gradient` may be the memory of `output`: an element of it
///   is then written after the last read of that element of the output. In 16 bits `gradient` is always the float copy
///   of the output;
/// - `template <class T, class Backend> bound<T> bind(int ordinal) const`: the loss for device `ordinal`, with its data
///   in the device's memory; throws argument_error for invalid options.
///
/// `sum_losses` (nn/sum_losses.hpp) implements `into` from the loss of one sample. Trainers call `into`; for training
/// steps that a program writes itself, operator() returns `evaluate_loss(*this, output, targets)`. A static constant
/// `takes_logits` or `takes_log_probabilities` = true makes trainers and backward reject networks that end in
/// probabilities; `takes_class_numbers` = true makes trainers reject targets that are not integers. `is_of_elements` =
/// true says that the losses of parts of a sample add up to the loss of the sample, as models in parts (in_parts.hpp)
/// require; `void require_equal_elements() const`, if any, throws argument_error for options that contradict.
/// docs/losses.md builds a loss.
template <class Loss>
concept loss = std::copyable<Loss> && requires(const Loss& l) {
  { l.reduce } -> std::convertible_to<reduction>;
  { l.template bind<float, backend::cpu>(0) } -> std::same_as<typename Loss::template bound<float>>;
  { l.template bind<double, backend::cpu>(0) } -> std::same_as<typename Loss::template bound<double>>;
};

/// Returns the number of losses in a batch of `samples` whose outputs have `rows` rows along the last axis.
template <class Bound> constexpr std::size_t losses_of(std::size_t samples, std::size_t rows) {
  if constexpr (requires { requires Bound::of_last_axis; })
    return rows;
  else
    return samples;
}

/// Whether a loss on one place may write its gradient over the outputs. Not inherited, because a derived loss may read
/// the outputs after the base's `into`.
template <class Bound>
inline constexpr bool overwrites_output =
    requires { requires std::is_same_v<typename Bound::overwrites_output, Bound>; };

/// Whether the declaration of a loss's `bound<T>` allows calls of `into` with these views.
template <class Bound, class Sums, class Gradient, class Rows, class Output, class Targets>
concept computes_losses = requires(const Bound& bound, const Sums& sums, const Gradient& gradient, const Rows& rows,
                                   const Output& output, const Targets& targets) {
  { bound.into(sums, gradient, rows, output, targets) } -> std::same_as<void>;
};

}  // namespace devplace::nn

namespace devplace::nn::detail {

/// Whether two tensors have the same rank, and whether tensors of the same rank have compatible static extents. Both
/// are true for arguments that are not tensors, since evaluate_loss rejects those.
template <class Output, class Target> inline constexpr bool same_ranks = true;
template <tensor_like Output, tensor_like Target>
inline constexpr bool same_ranks<Output, Target> = Output::rank == Target::rank;
template <class Output, class Target> inline constexpr bool same_sizes = true;
template <tensor_like Output, tensor_like Target>
  requires same_ranks<Output, Target>
inline constexpr bool same_sizes<Output, Target> =
    devplace::detail::compatible<typename Output::extents_type, typename Target::extents_type>;

/// Throws argument_error for reductions other than mean and sum. A template, so that it costs no compile time where
/// unused.
template <class Reduction> void require_mean_or_sum(const char* loss, Reduction reduce) {
  if (reduce != reduction::mean && reduce != reduction::sum)
    throw argument_error(std::string(loss) + ": reduce must be reduction::mean or reduction::sum.");
}

/// The result for rejected arguments, so that no further error follows.
struct rejected_loss {
  devplace::detail::refusal loss;
  loss_gradient<float, extents<dyn>, on<cpu>> gradient;
  devplace::detail::refusal item() const;
};
rejected_loss no_loss();  // never called

#define DEVPLACE_DETAIL_LOSS_WITHOUT_INTO                                                                       \
  "devplace: this loss does not take such an output and such targets: its type bound<T> needs `void into("      \
  "const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto& targets) const`; " \
  "docs/losses.md builds a loss."

template <class X> inline constexpr bool has_integers = false;
template <tensor_like X> inline constexpr bool has_integers<X> = std::is_integral_v<typename X::value_type>;

/// Weights of a loss in the memory of a place.
template <class T> struct placed_weights {
  std::size_t count = 0;                 ///< 0: none are given
  devplace::detail::memory_block block;  ///< the weights

  const T* data() const { return count == 0 ? nullptr : static_cast<const T*>(block.data()); }
};

template <class T, class Backend> placed_weights<T> place_weights(int ordinal, const std::vector<double>& weights) {
  const std::vector<T> values(weights.begin(), weights.end());
  const std::size_t bytes = values.size() * sizeof(T);
  placed_weights<T> result{values.size(),
                           devplace::detail::allocate<Backend>(ordinal, bytes, memory_purpose::workspace)};
  devplace::detail::copy_in<Backend>(ordinal, result.block.data(), values.data(), bytes);
  return result;
}

}  // namespace devplace::nn::detail

namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION {

/// A float copy of a view whose elements have 16 bits. For float and double it holds nothing, and values() returns its
/// argument.
template <class View, bool HalfPrecision = !floating_element<typename View::value_type>> struct float_copy {
  explicit float_copy(const View&) {}
  template <class Other> static Other values(const Other& x) { return x; }
  template <class Other> static void round_to(const Other&) {}
};
template <class View> struct float_copy<View, true> {
  using backend_type = typename View::backend_type;
  devplace::detail::memory_block block;

  explicit float_copy(const View& x)
      : block(devplace::detail::allocate<backend_type>(x.ordinal(), x.size() * sizeof(float),
                                                       memory_purpose::workspace)) {
    const auto packed = devplace::detail::packed(x);
    runtime::round_elements<backend_type>(x.ordinal(), data(), packed.view.data(), x.size());
  }
  float* data() const { return static_cast<float*>(block.data()); }
  template <class Other> auto values(const Other& x) const {
    return devplace::detail::view_at<backend_type>(x.ordinal(), data(), x.extents());
  }
  template <class Other> void round_to(const Other& gradient) const {
    runtime::round_elements<backend_type>(gradient.ordinal(), gradient.data(), data(), gradient.size());
  }
};

}  // namespace devplace::nn::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::nn::inline DEVPLACE_CONFIGURATION {

/// Computes a loss on every place of a batch; returns its value and its gradient. Expressions are evaluated first.
template <loss Loss, class Output, class Targets>
auto evaluate_loss(const Loss& function, const Output& output, const Targets& targets) {
  using devplace::detail::evaluated_value_t;
  constexpr bool tensors = tensor_like<evaluated_value_t<Output>> && tensor_like<evaluated_value_t<Targets>>,
                 in_order = !detail::has_integers<evaluated_value_t<Output>>;
  static_assert(
      tensors,
      "devplace: a loss takes two tensors, views or expressions, the network's output and the targets; numbers in the "
      "host's memory, as in a std::vector, are viewed by wrap(values, extents<dyn>(n)).");
  static_assert(in_order,
                "devplace: a loss takes the network's output first and the targets second, but the first argument of "
                "this call has integer elements, as labels have: nn::cross_entropy{}(output, labels).");
  if constexpr (!(tensors && in_order)) {
    return detail::no_loss();
  } else if constexpr (!(tensor_like<Output> && tensor_like<Targets>)) {
    return evaluate_loss(function, evaluated(output), evaluated(targets));
  } else {
    using T = typename Output::value_type;
    using sum = detail::sum_of_t<T>;
    using batch = typename Output::placement_type;
    constexpr bool one_placement = std::is_same_v<batch, typename Targets::placement_type>,
                   whole = !devplace::detail::kind_of<batch>::is_summands;
    static_assert(one_placement,
                  "devplace: the loss's output and targets lie on different placements; move one with to<Where>, or "
                  "scatter<Where> the targets like the batch.");
    static_assert(whole,
                  "devplace: the loss's output and targets are partial, a summand on each place, and a loss cannot be "
                  "computed from summands; make them whole first, all_reduce(x).");
    if constexpr (!(one_placement && whole)) {
      return detail::no_loss();
    } else {
      using extents_type = typename Output::extents_type;
      auto gradient = devplace::detail::make_like<T, batch>(output.extents(), output);
      detail::loss_sums_t<T, batch> sums(extents<2>{}), copy_of_sums(extents<2>{});
      std::array<const void*, local_place_count<batch>> outputs;
      for (std::size_t k = 0; k < local_place_count<batch>; ++k) {
        const auto part = devplace::detail::local_part(output, k);
        outputs[k] = part.data();
        using backend_type = typename decltype(part)::backend_type;
        const auto bound = function.template bind<sum, backend_type>(part.ordinal());
        const std::size_t rows = part.extent(0);
        const std::size_t losses = losses_of<decltype(bound)>(rows, detail::row_count(part));
        const auto row_losses =
            devplace::detail::allocate<backend_type>(part.ordinal(), losses * sizeof(sum), memory_purpose::workspace);
        const auto workspace = devplace::detail::view_at<backend_type>(
            part.ordinal(), static_cast<sum*>(row_losses.data()), extents<dyn>{losses});
        const auto to = devplace::detail::local_part(sums, k);
        const auto gradient_part = devplace::detail::local_part(gradient, k);
        const auto targets_part = devplace::detail::local_part(targets, k);
        // Losses of 16-bit outputs are computed from a float copy of the outputs, which the gradient then overwrites.
        const detail::float_copy<std::remove_const_t<decltype(part)>> copy_of_outputs(part);
        const auto exact_part = copy_of_outputs.values(part);
        const auto exact_gradient = copy_of_outputs.values(gradient_part);
        constexpr bool computes = computes_losses<decltype(bound), decltype(to), decltype(exact_gradient),
                                                  decltype(workspace), decltype(exact_part), decltype(targets_part)>;
        static_assert(computes, DEVPLACE_DETAIL_LOSS_WITHOUT_INTO);
        if constexpr (computes) bound.into(to, exact_gradient, workspace, exact_part, targets_part);
        copy_of_outputs.round_to(gradient_part);
        copy(devplace::detail::local_part(copy_of_sums, k), to);
      }
      devplace::detail::wait_for_replicas<placement_backend_t<batch>>(devplace::detail::mesh_of<batch>::ordinals);
      constexpr bool takes_scores =
          (requires { requires Loss::takes_logits; } || requires { requires Loss::takes_log_probabilities; });
      return loss_result<T, extents_type, batch>{
          loss_value<T, batch>(std::move(sums), function.reduce),
          {std::move(gradient), std::move(copy_of_sums), function.reduce, outputs, takes_scores}};
    }
  }
}

}  // namespace devplace::nn::inline DEVPLACE_CONFIGURATION
