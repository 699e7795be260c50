// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/place/placement.hpp>

namespace devplace::parallel::detail {

template <class Mesh>
struct copies_on;
template <class... P>
struct copies_on<devices<P...>> {
  using type = replicated_on<P...>;
};

/// Copies on the places of another placement, in their order.
template <class Where>
using copies_on_t = typename copies_on<typename placement_traits<Where>::mesh>::type;

}  // namespace devplace::parallel::detail
