// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/update_loops.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace {

namespace detail {

/// A whole step as one index functor over the arena.
template <class Numbers>
struct update_functor {
  Numbers numbers;

  DEVPLACE_HD void operator()(std::size_t i) const { numbers.element(i, numbers.source.factor()); }
  void range(std::size_t begin, std::size_t end) const { update_range(numbers, begin, end); }
};

/// Elements that are worth a thread, some microseconds of work. A multiple of every vector's lanes, so that the same
/// elements are left over after whole vectors, and the same bits come out, for every number of threads.
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
