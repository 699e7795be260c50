// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: all code for one instruction set.

#include <devplace/backend/cpu/detail/gemm_lanes_body.hpp>

#include <devplace/backend/cpu/detail/gemm_packing_body.hpp>

#include <devplace/backend/cpu/detail/gemm_kernel_body.hpp>

#include <devplace/backend/cpu/detail/gemm_dots_body.hpp>

#include <devplace/backend/cpu/detail/update_loops_body.hpp>

/// The argument that with_instruction_set passes to its function.
struct code {
  template <class T> static gemm_kernels<T> gemm() {
    return {multiply_range<T>, dot_range<T>, tile_rows, vector_bytes / sizeof(T)};
  }
  template <class Update>
  static void update([[maybe_unused]] const Update& enqueued, [[maybe_unused]] std::size_t begin,
                     [[maybe_unused]] std::size_t end) {
    // nvcc's device pass rejects vectors in formulas of optimizers, because these are device code, too.
    DEVPLACE_IF_HOST(update_arrays(enqueued, begin, end, typename Update::array_numbers{});)
  }
  template <class T> static void add_squares(double* sums, const T* values, std::size_t count) {
    add_squares_of(sums, values, count);
  }
};
