// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/optim/detail/update_loops.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, n, numbers)`: an optimizer's update of n elements, with what optim/detail/updates.hpp says of it.
struct update {};

}  // namespace op

namespace optim::detail {

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

template <class Backend, class Tu, class Numbers>
void run_update(int ordinal, std::size_t n, const Numbers& numbers) {
  if (n != 0) devplace::detail::dispatch<op::update, Backend, Tu>(ordinal, n, numbers);
}

}  // namespace optim::detail

template <>
struct implementation<backend::cpu, op::update> {
  template <class Numbers>
  static void run(int ordinal, std::size_t n, const Numbers& numbers) {
    using functor = optim::detail::update_functor<Numbers>;
    implementation<backend::cpu, op::for_each>::run(ordinal, n, optim::detail::update_grain, functor{numbers});
  }
};

}  // namespace devplace

#include DEVPLACE_CUDA_BACKEND(update)
