// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/runtime/clip_factor.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

struct clipped {
  float factor = -1, norm = -1;
};

/// Clips with the kernel that a GPU would run, in one launch.
clipped clip(const std::vector<float>& gradients, const float* divisor, double max_norm, std::uint32_t seed = 1) {
  using source = dp::detail::element_source<float>;
  using reducer = dp::runtime::clip_reducer<float>;
  clipped result;
  auto kernel = dp::detail::make_reduce_kernel<true, 4>(dp::detail::reduction_plan<source, reducer>{
      1, gradients.size(), 1, {gradients.data()}, reducer{{divisor, max_norm, &result.factor, &result.norm}}});
  std::vector<unsigned> tickets(dp::detail::most_partial_blocks);
  std::vector<double> partials(dp::detail::most_partial_blocks * dp::detail::most_block_columns);
  kernel.tickets = tickets.data();
  kernel.partials = partials.data();
  simt::launch(static_cast<unsigned>(kernel.layout.blocks()), kernel, seed);
  return result;
}

}  // namespace

TEST_CASE("clipping on a GPU takes one launch, and norm and factor equal a plain loop's", "[cuda]") {
  const float divisor = 32;
  for (const std::size_t n : {0u, 1u, 1023u, 40'003u}) {
    INFO(n << " gradients");
    const std::vector<float> gradients = simt::logits(n);
    long double sum = 0;
    for (const float g : gradients) sum += static_cast<long double>(g) * static_cast<long double>(g);
    const double norm = static_cast<double>(std::sqrt(sum)) / 32;
    const clipped result = clip(gradients, &divisor, 0.5);
    CHECK(result.norm == static_cast<float>(norm));
    CHECK(result.factor == static_cast<float>(norm > 0.4999 ? 0.5 / (norm + 1e-6) : 1));
    for (std::uint32_t seed = 2; seed < 5; ++seed) CHECK(clip(gradients, &divisor, 0.5, seed).norm == result.norm);
  }
}

TEST_CASE("clipping on a GPU with zero, infinite and NaN gradients", "[cuda]") {
  const float zero = 0;
  CHECK(clip({3, 4}, nullptr, 10).norm == 5);
  CHECK(clip({3, 4}, nullptr, 10).factor == 1);
  CHECK(clip({3, 4}, &zero, 1).norm == 0);  // the sum of weights is 0
  CHECK(clip({3, 4}, &zero, 1).factor == 1);
  CHECK(clip({3, std::numeric_limits<float>::infinity()}, nullptr, 1).factor == 0);
  CHECK(std::isnan(clip({3, std::numeric_limits<float>::quiet_NaN()}, nullptr, 1).factor));
}
