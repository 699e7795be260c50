// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/update_loops.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace {

namespace detail {

/// A complete step as an index functor over the arena.
template <class Numbers>
struct update_functor {
  Numbers numbers;

  DEVPLACE_HD void operator()(std::size_t i) const { numbers.element(i, numbers.source.factor()); }
  void range(std::size_t begin, std::size_t end) const { update_range(numbers, begin, end); }
};

/// Number of elements that justify a thread. A multiple of every vector width, so that the same elements remain after
/// whole vectors, and the bits are the same, for every number of threads.
inline constexpr std::size_t update_grain = 8192;

}  // namespace detail

template <>
struct implementation<backend::cpu, op::update> {
  template <class Update>
  static void run(int ordinal, std::size_t n, const Update& update) {
    using functor = detail::update_functor<decltype(update.numbers())>;
    implementation<backend::cpu, op::for_each>::run(ordinal, n, detail::update_grain, functor{update.numbers()});
    update.steps->advance();
  }
};

}  // namespace devplace
