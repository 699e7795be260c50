// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

template <class Source, class Reducer>
struct reduction_plan;  // ops/detail/reduction_plan.hpp, which includes this file

/// One block for each result, and more rounds where there are more results than blocks. Thread t takes the positions t,
/// t + Threads, ...; the threads' accumulators are merged in a tree. Threads is a power of two.
template <unsigned Threads, class Source, class Reducer>
struct reduce_kernel {
  static constexpr unsigned threads = Threads;

  reduction_plan<Source, Reducer> plan;

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    using accumulator = typename Reducer::accumulator;
    const auto partial = t.template shared<accumulator, Threads>();
    const unsigned thread = t.thread_index();
    for (std::size_t output = t.block_index(); output < plan.outer * plan.inner; output += t.grid_size()) {
      const std::size_t base = output / plan.inner * plan.count * plan.inner + output % plan.inner;
      accumulator sum = Reducer::identity();
      for (std::size_t k = thread; k < plan.count; k += Threads)
        Reducer::add(sum, plan.source(base + k * plan.inner), k);
      partial.store(thread, sum);
      t.sync();
      for (unsigned half = Threads / 2; half != 0; half /= 2) {
        if (thread < half) {
          sum = partial.load(thread);
          Reducer::merge(sum, partial.load(thread + half));
          partial.store(thread, sum);
        }
        t.sync();
      }
      if (thread == 0) plan.reducer.store(output, partial.load(0));
      t.sync();
    }
  }
};

}  // namespace devplace::detail
