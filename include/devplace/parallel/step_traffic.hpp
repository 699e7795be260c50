// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/runtime/clip_factor.hpp>
#include <devplace/runtime/loss_scale.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// Counts the bytes that one training step moves between n participants under a policy: gradients, parameters, and
/// n - 1 copies of the first participant's layer buffers. Gradients include the sums that follow them, and the values
/// by which processes compare steps. For S bytes of gradients:
///
/// - `all_reduce`: 2 (n - 1) S in total; each participant receives and sends 2 (n - 1) / n S;
/// - `sharded_all_reduce`: as many bytes, half of them for parameters. If the trainer clips, it moves the three
///   integers of the norm, `clipping` bytes; in mixed<half> they are part of `gradients`, because each step checks all
///   gradients;
/// - `reduce_and_broadcast`: (n - 1) S to sum one slice on each participant, and (n - 1) / n S to copy the sums to the
///   first participant; across processes only (n - 1) S, but the first participant also sends the loss. The first
///   participant then sends the parameters n - 1 times, in mixed<half> with the scale of losses.
///
/// All engines move the same amount. With `collective::wire` S is the size of 16-bit gradients; parameters are not
/// rounded. Numbers are rounded to whole elements, as if n divided S. `step_traffic<Model, Policy>{}.bytes` is a
/// constant in one process; across processes use `step_traffic<Model, Policy>{participants}`.
template <class Model, class Policy> struct step_traffic {
  /// Zeros, so that the failed assertion is the only error.
  ///@{
  std::size_t participants = 0, gradients = 0, parameters = 0, buffers = 0, statistics = 0, bytes = 0, clipping = 0;
  ///@}
  /// Fails: the first argument is not a model.
  template <class... X> explicit constexpr step_traffic(const X&...) {
    constexpr bool is_model = sizeof(Model*) == 0;
    static_assert(is_model,
                  "devplace: step_traffic: the first argument is a model, as in step_traffic<model<net, replicated<0, "
                  "1>>, collective::all_reduce<>>{}.");
  }
  /// Prints nothing.
  friend std::ostream& operator<<(std::ostream& out, const step_traffic&) { return out; }
};

/// The numbers of a step's traffic.
template <> struct step_traffic<void, void> {
  std::size_t participants;    ///< number of participants
  std::size_t gradients = 0;   ///< bytes of gradients between participants
  std::size_t parameters = 0;  ///< bytes of parameters
  std::size_t buffers = 0;     ///< bytes of buffers (untrained state of layers) from the first participant
  std::size_t statistics = 0;  ///< bytes that layers reduce over the samples of all places, forward and backward
  std::size_t bytes = 0;       ///< the total
  std::size_t clipping = 0;    ///< additional bytes if the trainer clips; 0 unless places update shares

  /// Prints the numbers in one line.
  friend std::ostream& operator<<(std::ostream& out, const step_traffic& t) {
    out << std::to_string(t.bytes) << " bytes between " << std::to_string(t.participants)
        << (t.participants == 1 ? " participant" : " participants") << " in a step: " << std::to_string(t.gradients)
        << " of gradients, " << std::to_string(t.parameters) << " of parameters";
    if (t.buffers != 0) out << ", " << std::to_string(t.buffers) << " of buffers";
    if (t.statistics != 0) out << ", " << std::to_string(t.statistics) << " of statistics";
    return out;
  }

 protected:
  /// Zeros, for this number of participants.
  constexpr explicit step_traffic(std::size_t n) : participants(n) {}
};

/// The traffic of a `model<Net, Where, P>`.
template <class Net, class Where, class P, class Policy>
  requires stores_all<Where>
struct step_traffic<model<Net, Where, P>, Policy> : step_traffic<void, void> {
  /// For the placement's participants.
  constexpr step_traffic()
    requires(!spans_processes<Where>)
      : step_traffic(participant_count<Where>()) {}
  /// For the given number of participants.
  constexpr explicit step_traffic(std::size_t n) : step_traffic<void, void>(n) {
    using plan = runtime::network_plan<Net>;
    constexpr bool shares = collective::updates_shares<Policy>;
    constexpr std::size_t element = sizeof(typename precision_traits<P>::parameter),
                          of_parameters = plan::parameter_elements * element,
                          of_sums = runtime::gradient_tail * sizeof(typename precision_traits<P>::wire),
                          of_gradients = plan::parameter_elements *
                                             collective::wire_bytes<Policy, typename precision_traits<P>::wire> +
                                         of_sums;
    gradients = (n - 1) * of_gradients;
    constexpr bool copies_sums = shares || (spans_processes<Where> && !Policy::every_place_updates);
    gradients += copies_sums ? (n - 1) * of_sums : Policy::every_place_updates ? gradients : gradients / n;
    constexpr std::size_t of_scale = scales_losses<P> ? sizeof(runtime::loss_scale) : 0;
    parameters = shares                        ? (n - 1) * of_parameters
                 : Policy::every_place_updates ? 0
                                               : (n - 1) * (of_parameters + of_scale);
    const std::size_t of_norm = shares ? 2 * (n - 1) * runtime::norm_integers * sizeof(std::int64_t) : 0;
    gradients += scales_losses<P> ? of_norm : 0;
    clipping = scales_losses<P> ? 0 : of_norm;
    buffers = (n - 1) * plan::buffer_elements * element;
    statistics = 2 * (n - 1) * (plan::reduced_numbers + plan::reduced_in_backward) * sizeof(std::int64_t);
    bytes = gradients + parameters + buffers + statistics;
  }
};

}  // namespace devplace
