// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs operations that need workspace concurrently on two streams of one GPU.

#include <algorithm>
#include <cstddef>

#include <devplace/memory/stream.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using gpu = dp::cuda<0>;
using device = dp::on<gpu>;

TEST_CASE("column sums on two streams use separate workspaces", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const dp::stream<gpu> streams[2];
  constexpr std::size_t n = support::on_software_gpu ? 1 << 12 : 1 << 22, rounds = support::on_software_gpu ? 10 : 200;
  using long_array = dp::extents<n>;
  dp::tensor<float, long_array, device> ones{long_array{}}, threes{long_array{}};
  dp::fill(ones, 1.0F);
  dp::fill(threes, 3.0F);
  dp::tensor<float, dp::extents<2, rounds>, device> sums{dp::extents<2, rounds>{}};
  dp::synchronize<gpu>();  // the streams use memory that was allocated in the order of the place's stream
  for (std::size_t i = 0; i < rounds; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      const dp::stream_scope in(streams[k]);
      dp::sum_into(sums[k].slice(i, i + 1), (k == 0 ? ones : threes).reshape(dp::extents<n, 1>{}), dp::axis<0>{});
    }
  dp::synchronize<gpu>();
  const auto values = support::values_of(sums);
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == (i < rounds ? n : 3 * n));
}

TEST_CASE("products are in the order of the stream in whose scope they are called", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  constexpr std::size_t n = support::on_software_gpu ? 32 : 512;
  using square = dp::extents<n, n>;
  const auto make = [] { return dp::tensor<float, square, device>{square{}}; };
  const dp::stream<gpu> streams[2];
  dp::tensor<float, square, device> a[2] = {make(), make()}, product[2] = {make(), make()};
  dp::synchronize<gpu>();
  for (int round = 1; round <= 20; ++round) {
    for (std::size_t k = 0; k < 2; ++k) {
      const dp::stream_scope in(streams[k]);
      dp::fill(a[k], static_cast<float>(round) + static_cast<float>(k));  // the product must use this value
      dp::matmul_into(product[k], a[k], a[k]);
      dp::fill(a[k], 0.0F);  // and not this value
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const dp::stream_scope in(streams[k]);
      const float x = static_cast<float>(round) + static_cast<float>(k);
      const auto elements = support::values_of(product[k]);
      REQUIRE(std::count(elements.begin(), elements.end(), n * x * x) == n * n);
    }
  }
}
