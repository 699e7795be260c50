// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/runtime/clip_factor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "support/catch.hpp"
#include "support/random_values.hpp"

namespace dp = devplace;
namespace runtime = devplace::runtime;

namespace {

struct clipped {
  float factor = -1, norm = -1;
  runtime::gradient_norm_statistics statistics = {};
  runtime::loss_scale scaler = {8, 0, 0, 0};
};

/// Clips on the CPU; gradients are scaled by 8 if `scaled`.
clipped clip(const std::vector<float>& gradients, double max_norm, std::optional<float> divisor = {},
             bool scaled = false) {
  clipped result;
  const std::size_t n = gradients.size();
  std::int64_t integers[runtime::norm_integers] = {-1, -1, -1};
  runtime::clip_result<float> finish{
      .divisor = divisor ? &*divisor : nullptr, .max_norm = max_norm, .factor = &result.factor, .norm = &result.norm};
  if (scaled) {
    finish.scaler = &result.scaler;
    finish.scaling = {2, 0.5, 1};
  }
  finish.statistics = &result.statistics;
  runtime::find_largest<dp::backend::cpu>(0, n, gradients.data(), integers);
  runtime::add_squares<dp::backend::cpu>(0, n, gradients.data(), integers, false, finish);
  return result;
}

}  // namespace

TEST_CASE("clipping on the CPU equals a sum in long double", "[runtime]") {
  for (const std::size_t n : {1u, 63u, 64u, 4097u, 300'000u}) {
    INFO(n << " gradients");
    const auto x = dp::test::random_values<float>(dp::extents<dp::dyn>{n}, 1);
    const std::vector<float> gradients(x.data(), x.data() + n);
    long double sum = 0;
    for (const float g : gradients) sum += static_cast<long double>(g) * static_cast<long double>(g);
    const double norm = static_cast<double>(std::sqrt(sum)) / 32;
    const clipped result = clip(gradients, norm / 4, 32.0F);
    CHECK(result.norm == static_cast<float>(norm));
    CHECK(result.factor == static_cast<float>(norm / 4 / (norm + 1e-6)));
    CHECK(clip(gradients, 4 * norm, 32.0F).factor == 1);
  }
}

TEST_CASE("gradients of ignored samples, and gradients that are not finite, are clipped on the CPU", "[runtime]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(clip({}, 1).norm == 0);
  CHECK(clip({3, 4}, 10).norm == 5);
  CHECK(clip({3, 4}, 10, 0.0F).norm == 0);  // the sum of weights is 0
  CHECK(clip({3, infinity}, 1).factor == 0);
  CHECK(std::isnan(clip({3, nan}, 1).factor));
}

TEST_CASE("clipping undoes the loss scale, and decides whether to skip the step", "[runtime]") {
  const clipped finite = clip({24, 32}, 10, {}, true);  // 3 and 4, scaled by 8
  CHECK(finite.norm == 5);
  CHECK(finite.factor == 0.125F);
  CHECK(finite.scaler.skips == 0);
  CHECK(finite.scaler.scale == 16);  // an interval of one step has passed
  const clipped infinite = clip({24, std::numeric_limits<float>::infinity()}, 10, {}, true);
  CHECK(infinite.scaler.skips == 1);
  CHECK(infinite.scaler.skipped_steps == 1);
  CHECK(infinite.scaler.scale == 4);
}

TEST_CASE("statistics of norms keep the last, the largest and the sum of finite ones", "[runtime]") {
  runtime::gradient_norm_statistics norms = {};
  for (const double norm :
       {2.0, 5.0, std::numeric_limits<double>::infinity(), 3.0, std::numeric_limits<double>::quiet_NaN(), 1.0})
    norms.add(norm);
  CHECK(norms.last == 1);
  CHECK(norms.sum == 11);
  CHECK(norms.largest == 5);
  CHECK(norms.finite == 4);
  CHECK(norms.others == 2);
  CHECK(clip({3, 4}, 10).statistics.last == 5);
}
