// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

// Axes of meshes of places. A model's placement gives each axis a meaning: what the places along the axis divide.

namespace devplace {

/// A size that is known only at run time.
inline constexpr std::size_t dyn = static_cast<std::size_t>(-1);

/// An axis of `Count` places that divide the batch and hold copies of the parameters; `dyn` for processes.
template <std::size_t Count> struct replicas {};

/// Whether places keep the gathered parameters of a unit from its forward pass to its backward pass. `given_up`: their
/// memory is used for the next unit, and backward gathers the parameters again. `kept`: a step moves two thirds of the
/// bytes, but each place needs memory for all parameters.
enum class gathered : unsigned char { given_up, kept };

/// An axis of `Count` places that divide the batch, and of which each stores a share of every unit of parameters,
/// gradients and optimizer state; `dyn` for processes. A unit is consecutive layers with at least `UnitBytes` of
/// parameters, which the places gather before the layers compute (parallel/unit_plan.hpp).
template <std::size_t Count, std::size_t UnitBytes = (25 << 20), gathered Parameters = gathered::given_up>
struct shares {
  static_assert(UnitBytes > 0, "devplace: shares: a unit has at least one byte of parameters; give a size above 0.");
};

/// A mesh of places: its axes, the outermost first.
template <class... Axes> struct mesh {};

}  // namespace devplace
