// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Counts what the machine-independent code of kernels reads from global memory.

#include <devplace/backend/cuda/softmax.cuh>

#include <cstddef>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernels.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

namespace {

constexpr std::size_t rows = 2;

/// Returns the bytes that the last kernel has read.
std::size_t bytes_read() {
  dp::synchronize<dp::cuda<0>>();
  return dp::test::mock_cuda::gpu_of_kernels().last_launch().global_read_bytes;
}

}  // namespace

TEMPLATE_TEST_CASE("softmax on a GPU reads rows of up to 1,024 elements once, and longer ones twice", "[backend]",
                   float, double, dp::bf16, dp::half) {
  for (const std::size_t n : {std::size_t{1024}, std::size_t{1032}, std::size_t{20000}}) {
    const dp::dextents<2> size{rows, n};
    const auto x = dp::ones<TestType, device>(size);
    auto y = dp::ones<TestType, device>(size);
    const std::size_t due = (n > 1024 ? 2 : 1) * rows * n * sizeof(TestType);
    dp::softmax_into(y, x);
    CHECK(bytes_read() == due);
    dp::log_softmax_into(y, x);
    CHECK(bytes_read() == due);
  }
}
