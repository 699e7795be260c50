// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
  std::int64_t integers[dp::runtime::norm_integers] = {};
};

/// Clips with the kernels that a GPU would run, in two launches. `divisor`: none, or a number.
clipped clip(const mock::device_vector<float>& gradients, const mock::device_vector<float>& divisor, double max_norm,
             unsigned seed = 1) {
  namespace runtime = dp::runtime;
  mock::device_vector<clipped> result(1);
  mock::device_vector<std::int64_t> integers(runtime::norm_integers, -1);
  const std::size_t n = gradients.size();
  const runtime::clip_result<float> finish{.divisor = divisor.empty() ? nullptr : divisor.data(),
                                           .max_norm = max_norm,
                                           .factor = &result[0].factor,
                                           .norm = &result[0].norm};
  mock::run_reduction(
      dp::detail::reduction_plan<dp::detail::element_source<float>, runtime::magnitude_reducer<float>>{
          1, n, 1, {gradients.data()}, {integers.data(), false}},
      seed, 1000);
  mock::run_reduction(
      dp::detail::reduction_plan<runtime::square_source<float>, runtime::gradient_squares<float>>{
          1, n, 1, {gradients.data(), integers.data()}, {n, gradients.data(), integers.data(), false, finish}},
      seed, 1000);
  clipped found = result[0];
  std::copy(integers.begin(), integers.end(), found.integers);
  return found;
}

}  // namespace

TEST_CASE("clipping on a GPU takes two launches, and norm and factor equal a plain loop's", "[cuda]") {
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
    std::int64_t on_cpu[dp::runtime::norm_integers];  // the CPU's integers are equal
    dp::runtime::find_largest<dp::backend::cpu>(0, n, gradients.data(), on_cpu);
    dp::runtime::add_squares<dp::backend::cpu>(0, n, gradients.data(), on_cpu, false);
    CHECK(std::equal(std::begin(on_cpu), std::end(on_cpu), result.integers));
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
