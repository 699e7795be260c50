// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/runtime/clip_factor.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

struct clipped {
  float factor = -1, norm = -1;
};

/// Clips with the kernel that a GPU would run, in one launch. `divisor`: none, or a number.
clipped clip(const mock::device_vector<float>& gradients, const mock::device_vector<float>& divisor, double max_norm,
             unsigned seed = 1) {
  using source = dp::detail::element_source<float>;
  using reducer = dp::runtime::clip_reducer<float>;
  mock::device_vector<clipped> result(1);
  mock::run_reduction(
      dp::detail::reduction_plan<source, reducer>{
          1,
          gradients.size(),
          1,
          {gradients.data()},
          reducer{{divisor.empty() ? nullptr : divisor.data(), max_norm, &result[0].factor, &result[0].norm}}},
      seed, 1000);
  return result[0];
}

}  // namespace

TEST_CASE("clipping on a GPU takes one launch, and norm and factor equal a plain loop's", "[cuda]") {
  const mock::device_vector<float> divisor{32};
  for (const std::size_t n : {0u, 1u, 1023u, 40'003u}) {
    INFO(n << " gradients");
    const mock::device_vector<float> gradients = mock::logits(n);
    long double sum = 0;
    for (const float g : gradients) sum += static_cast<long double>(g) * static_cast<long double>(g);
    const double norm = static_cast<double>(std::sqrt(sum)) / 32;
    const clipped result = clip(gradients, divisor, 0.5);
    CHECK(result.norm == static_cast<float>(norm));
    CHECK(result.factor == static_cast<float>(norm > 0.4999 ? 0.5 / (norm + 1e-6) : 1));
    for (unsigned seed = 2; seed < 5; ++seed) CHECK(clip(gradients, divisor, 0.5, seed).norm == result.norm);
  }
}

TEST_CASE("clipping on a GPU with zero, infinite and NaN gradients", "[cuda]") {
  CHECK(clip({3, 4}, {}, 10).norm == 5);
  CHECK(clip({3, 4}, {}, 10).factor == 1);
  CHECK(clip({3, 4}, {0}, 1).norm == 0);  // the sum of weights is 0
  CHECK(clip({3, 4}, {0}, 1).factor == 1);
  CHECK(clip({3, std::numeric_limits<float>::infinity()}, {}, 1).factor == 0);
  CHECK(std::isnan(clip({3, std::numeric_limits<float>::quiet_NaN()}, {}, 1).factor));
}
