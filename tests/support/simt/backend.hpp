// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/backend/cuda/assign.cuh>
#include <devplace/backend/cuda/kernels/for_each.hpp>
#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/backend/cuda/kernels/take_rows.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

#include "support/simt/emulator.hpp"

// A backend with the CPU's memory that executes CUDA's kernels in the emulator: library code on views at
// here<simt::backend> runs the code of a GPU. For an operation on rows, also include its header of
// backend/cuda/kernels.

namespace devplace::test::simt {

struct backend {};

inline std::string place_name(backend, int) { return "the emulator"; }

}  // namespace devplace::test::simt

namespace devplace {

namespace detail {

/// Launches fewer blocks than on a GPU, so that blocks loop over their work.
struct some_blocks {
  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    test::simt::launch(static_cast<unsigned>(std::min<std::size_t>(blocks, 7)), kernel, 1);
  }
};

}  // namespace detail

template <> struct implementation<test::simt::backend, op::memory> : implementation<backend::cpu, op::memory> {};

template <> struct implementation<test::simt::backend, op::for_each> {
  template <class F> static void run(int, std::size_t n, std::size_t, const F& f) {
    with_kernel(n, f, detail::some_blocks{});
  }
};

template <> struct implementation<test::simt::backend, op::reduce> {
  template <class Source, class Reducer> static void run(int, const detail::reduction_plan<Source, Reducer>& plan) {
    if (plan.inner == 1)
      detail::with_reduce_kernel<true>(plan, launch{});
    else
      detail::with_reduce_kernel<false>(plan, launch{});
  }

 private:
  struct launch {
    template <class Kernel> void operator()(Kernel kernel) const {
      std::vector<unsigned> tickets(detail::most_partial_blocks);
      std::vector<typename Kernel::accumulator> partials(detail::most_partial_blocks * detail::most_block_columns);
      kernel.tickets = tickets.data();
      kernel.partials = partials.data();
      detail::some_blocks{}(kernel.layout.blocks(), kernel);
    }
  };
};

template <> struct implementation<test::simt::backend, op::take_rows> {
  template <class T, class Index> static void run(int, const detail::row_taker<T, Index>& take) {
    const auto kernel = detail::make_take_rows_kernel(take);
    if (kernel.n != 0) detail::some_blocks{}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
