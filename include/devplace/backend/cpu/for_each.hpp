// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace {

template <> struct implementation<backend::cpu, op::for_each> {
  template <class F> static void run([[maybe_unused]] int ordinal, std::size_t n, std::size_t grain, const F& f) {
    if constexpr (requires { f.of_any_columns(); }) {
      run(ordinal, n, grain, f.of_any_columns());
    } else {
      detail::parallel_ranges(n, grain, [&f](std::size_t begin, std::size_t end) {
        if constexpr (detail::range_functor<F> || requires { requires F::computes_much; }) {
          detail::run_range(f, begin, end);
        } else {
          for (std::size_t i = begin; i != end; ++i) f(i);
        }
      });
    }
  }
};

}  // namespace devplace
