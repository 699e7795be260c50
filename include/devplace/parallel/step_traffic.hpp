// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <ostream>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>

namespace devplace {

/// What one training step moves between participants under a policy, in bytes: gradients with the sums behind them,
/// parameters, and layers' buffers, (n - 1) times from the first participant. S bytes of gradients of n participants
/// take
///
/// - `all_reduce`: 2 (n - 1) S in all, of which 2 (n - 1) / n S come to each participant and as much leaves it;
/// - `reduce_and_broadcast`: (n - 1) S + (n - 1) / n S to the first one, which its devices add up slice by slice, and
///   (n - 1) times the parameters from there.
///
/// Both engines move as much. Numbers are rounded to whole elements of slices as if S were divisible by n. Constants in
/// one process, `step_traffic<Model, Policy>{}.bytes`; across processes `step_traffic<Model, Policy>{participants}`.
template <class Model, class Policy>
struct step_traffic;

/// The traffic of a `model<Net, Where, P>`.
template <class Net, class Where, class P, class Policy>
struct step_traffic<model<Net, Where, P>, Policy> {
  std::size_t participants;  ///< their number
  std::size_t gradients;     ///< bytes that gradients take from participant to participant
  std::size_t parameters;    ///< bytes that parameters take from the first one to the others
  std::size_t buffers;       ///< bytes that state of layers that is not trained takes from the first one to the others
  std::size_t bytes;         ///< all of them

  /// Between the placement's participants.
  constexpr step_traffic() requires(!spans_processes<Where>) : step_traffic(participant_count<Where>()) {}
  /// Between so many participants.
  constexpr explicit step_traffic(std::size_t n) : participants(n) {
    using plan = runtime::network_plan<Net>;
    constexpr std::size_t element = sizeof(element_of_t<P>), of_parameters = plan::parameter_elements * element,
                          of_gradients = of_parameters + runtime::gradient_tail * element;
    gradients =
        Policy::every_place_updates ? 2 * (n - 1) * of_gradients : (n - 1) * of_gradients + (n - 1) * of_gradients / n;
    parameters = Policy::every_place_updates ? 0 : (n - 1) * of_parameters;
    buffers = (n - 1) * plan::buffer_elements * element;
    bytes = gradients + parameters + buffers;
  }

  /// Writes the numbers in a line.
  friend std::ostream& operator<<(std::ostream& out, const step_traffic& t) {
    out << t.bytes << " bytes between " << t.participants << (t.participants == 1 ? " participant" : " participants")
        << " in a step: " << t.gradients << " of gradients, " << t.parameters << " of parameters";
    if (t.buffers != 0) out << ", " << t.buffers << " of buffers";
    return out;
  }
};

}  // namespace devplace
