// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/parallel/fibers.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/clip_factor.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// The traffic of a model in shares. Along the axis of shares, every participant receives the other shares of the
/// parameters in forward and again in backward (except of units that stay: the last one, on devices the last two, or
/// all if they are kept; and of a first unit whose parameters backward does not read), in mixed precision in 16 bits,
/// and sends the other shares of the gradients once. Along the axis of replicas, the participants with equal shares
/// reduce the share's gradients.
template <class Net, stores_shares Where, class P, class Policy>
struct step_traffic<model<Net, Where, P>, Policy> : step_traffic<void, void> {
  std::size_t between_replicas = 0;  ///< the part of `bytes` that moves along the axis of replicas

  /// For the placement's participants.
  constexpr step_traffic()
    requires(!spans_processes<Where>)
      : step_traffic(participant_count<Where>()) {}
  /// For the given number of participants.
  constexpr explicit step_traffic(std::size_t n) : step_traffic<void, void>(n) {
    using plan = runtime::network_plan<Net>;
    using units = parallel::detail::network_units<Net, Where, P>;
    using axes = parallel::mesh_axes<Where>;
    using roles = precision_traits<P>;
    const std::size_t shares = axes::share_count(n, "step_traffic"), replicas = n / shares;
    // The number of copies that a reduction or broadcast of equal buffers moves along each axis.
    const std::size_t others = replicas * (shares - 1), other_replicas = shares * (replicas - 1);
    constexpr std::size_t of_sums = runtime::gradient_tail * sizeof(typename roles::wire);
    constexpr std::size_t of_gradients =
        plan::parameter_elements * collective::wire_bytes<Policy, typename roles::wire>;
    gradients =
        others * (of_gradients + 2 * of_sums) + 2 * (replicas - 1) * of_gradients + 2 * other_replicas * of_sums;
    for (std::size_t u = 0; u != units::size; ++u)
      parameters += others * (units::gathered_again(u) ? 2 : 1) *
                    (units::at(u).trained.count + units::at(u).frozen.count) * sizeof(typename roles::working);
    units::visit_masters([&](std::size_t u, std::size_t, std::size_t count) {
      parameters += others * (units::gathered_again(u) ? 2 : 1) * count * sizeof(typename roles::parameter);
    });
    const std::size_t of_norm = 2 * others * runtime::norm_integers * sizeof(std::int64_t);
    gradients += scales_losses<P> ? of_norm : 0;
    clipping = scales_losses<P> ? 0 : of_norm;
    constexpr std::size_t of_buffers = plan::buffer_elements * sizeof(typename roles::parameter);
    constexpr std::size_t of_statistics =
        2 * (plan::reduced_numbers + plan::reduced_in_backward) * sizeof(std::int64_t);
    buffers = (others + other_replicas) * of_buffers;
    statistics = (others + other_replicas) * of_statistics;
    between_replicas = 2 * (replicas - 1) * of_gradients + other_replicas * (2 * of_sums + of_buffers + of_statistics);
    bytes = gradients + parameters + buffers + statistics;
  }
};

}  // namespace devplace
