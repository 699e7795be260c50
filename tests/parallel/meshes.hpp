// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/place/placement.hpp>

#include "parallel/nine_devices.hpp"

namespace support {

template <class Ordinals> struct mesh_of;
template <int... I> struct mesh_of<std::integer_sequence<int, I...>> {
  using replicated = devplace::replicated<I...>;
  template <std::size_t Axis> using sharded = devplace::sharded<devplace::axis<Axis>, I...>;
  template <devplace::reduction Op> using partial = devplace::partial<Op, I...>;
};

/// Calls `f(mesh_of<...>{})` with the mesh of the first `Count` devices, for each Count.
template <int... Count, class F> void for_devices(const F& f) {
  (f(mesh_of<std::make_integer_sequence<int, Count>>{}), ...);
}
/// One place, an even and an odd number of places, and the largest number; all numbers would take longer to compile.
template <class F> void for_up_to_9_devices(const F& f) { for_devices<1, 2, 3, 9>(f); }

}  // namespace support
