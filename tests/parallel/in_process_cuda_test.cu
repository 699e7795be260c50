// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <span>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>

#include "parallel/two_logical_devices.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;

TEMPLATE_TEST_CASE("collectives between CUDA devices", "[parallel]", dp::parallel::direct<cuda>,
                   dp::parallel::ring<cuda>) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const std::vector<int> ordinals{0, 1};
  TestType engine(ordinals);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{100003}}) {
    std::vector<dp::detail::memory_block> blocks;
    std::vector<double*> pointers;
    std::vector<std::vector<double>> values(2, std::vector<double>(count));
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t i = 0; i < count; ++i) values[k][i] = static_cast<double>((i * 7 + k * 3) % 11) + 1;
      blocks.push_back(dp::detail::allocate<cuda>(ordinals[k], (count + 1) * sizeof(double)));
      pointers.push_back(static_cast<double*>(blocks[k].data()));
      dp::detail::copy_in<cuda>(ordinals[k], pointers[k], values[k].data(), count * sizeof(double));
    }
    const std::span<double* const> buffers(pointers);
    engine.all_reduce(buffers, count, dp::reduction::sum);   // a + b on both
    engine.all_reduce(buffers, count, dp::reduction::mean);  // unchanged
    engine.reduce(buffers, count, dp::reduction::sum, 1);    // twice the mean, on place 1
    engine.broadcast(buffers, count, 1);
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<double> result(count);
      dp::detail::copy_out<cuda>(ordinals[k], result.data(), pointers[k], count * sizeof(double));
      for (std::size_t i = 0; i < count; ++i) REQUIRE(result[i] == 2 * (values[0][i] + values[1][i]));
    }
  }
}
