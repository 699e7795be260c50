// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <ostream>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>

namespace devplace {

/// What one training step moves between places under a policy, in bytes, known at compile time: gradients with the sums
/// behind them, parameters, and layers' buffers, (n - 1) times from the first place. S bytes of gradients on n places
/// take
///
/// - `all_reduce`: 2 (n - 1) S in all, of which 2 (n - 1) / n S come to each place and as much leaves it;
/// - `reduce_and_broadcast`: (n - 1) S + (n - 1) / n S to the first place, which its devices add up slice by slice, and
///   (n - 1) times the parameters from there.
///
/// Both engines move as much. Numbers are rounded to whole elements of slices as if S were divisible by n.
template <class Model, class Policy>
struct step_traffic;

/// The traffic of a `model<Net, Where, P>`.
template <class Net, class Where, class P, class Policy>
struct step_traffic<model<Net, Where, P>, Policy> {
 private:
  using plan = nn::detail::network_plan<Net>;
  static constexpr std::size_t n = local_place_count<Where>;
  static constexpr std::size_t gradient_bytes =
      (plan::parameter_elements + nn::detail::gradient_tail) * sizeof(element_of_t<P>);
  static constexpr std::size_t parameter_bytes = plan::parameter_elements * sizeof(element_of_t<P>);

 public:
  /// Number of places.
  static constexpr std::size_t places = n;
  /// Bytes that gradients take from place to place.
  static constexpr std::size_t gradients = Policy::every_place_updates
                                               ? 2 * (n - 1) * gradient_bytes
                                               : (n - 1) * gradient_bytes + (n - 1) * gradient_bytes / n;
  /// Bytes that parameters take from the first place to the others.
  static constexpr std::size_t parameters = Policy::every_place_updates ? 0 : (n - 1) * parameter_bytes;
  /// Bytes that buffers, state of layers that is not trained, take from the first place to the others.
  static constexpr std::size_t buffers = (n - 1) * plan::buffer_elements * sizeof(element_of_t<P>);
  /// All of them.
  static constexpr std::size_t bytes = gradients + parameters + buffers;

  /// Writes the numbers in a line.
  friend std::ostream& operator<<(std::ostream& out, step_traffic) {
    out << bytes << " bytes between " << places << (places == 1 ? " place" : " places") << " in a step: " << gradients
        << " of gradients, " << parameters << " of parameters";
    if constexpr (buffers != 0) out << ", " << buffers << " of buffers";
    return out;
  }
};

}  // namespace devplace
