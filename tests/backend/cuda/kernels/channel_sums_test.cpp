// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/channel_sums.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/backend/cuda/kernels/reduce.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/batch_norm_over_places.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::detail::channel_shape;

TEST_CASE("element by element, as on a GPU, batch_norm's functors give the bits of the CPU's loops", "[cuda]") {
  for (const std::size_t extent : {1u, 6u}) {
    const channel_shape shape{4, 3, extent};
    const std::size_t n = shape.size();
    std::vector<float> x(n), dy(n), y(n), by_range(n), statistics{0.5F, -1, 2, 0.25F, 0, 0.125F, 3, 2, 1};
    const std::vector<float> weight{1.5F, -2, 0.5F}, bias{0.25F, 3, -1}, means{0.5F, 0.25F, 1, -1, 0.5F, 2};
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i % 7) - 3;
      dy[i] = static_cast<float>(i % 5) - 2;
    }
    const auto scales = dp::detail::channel_scales<float>::in(statistics.data(), 3);
    const auto compare = [&](const auto& functor) {
      for (std::size_t i = 0; i < n; ++i) functor(y.data())(i);
      functor(by_range.data()).range(0, 5);
      functor(by_range.data()).range(5, n);
      CHECK(y == by_range);
    };
    compare([&](float* to) {
      return dp::detail::scale_channels_functor<float, float>{shape, to, x.data(), scales, weight.data(), bias.data()};
    });
    CHECK(y[extent] == (x[extent] - -1 - 0) * 2 * -2 + 3);
    compare([&](float* to) {
      return dp::detail::batch_norm_gradient_functor<float, float>{
          shape, to, x.data(), dy.data(), scales, weight.data(), means.data()};
    });
    CHECK(y[extent] == -2 * 2 * ((dy[extent] - 0.25F) - (x[extent] + 1) * 2 * 0.5F));
  }
}

TEST_CASE("statistics by sums of integers equal the elements', and are NaN in a channel without a finite sum",
          "[cuda]") {
  const channel_shape shape{2, 3, 2};
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1, 2, 1, 2, 7, 7, 3, infinite, 3, 1e6F, 7, 7};
  std::vector<std::int64_t> keys(6), sums(6);
  std::vector<float> statistics(9), mean(3, 100), variance(3, 100);
  const double unit = dp::detail::exact_unit(4);
  dp::detail::sum_channels<dp::backend::cpu>(0, shape, dp::detail::range_terms<float, float>{{keys.data()}, x.data()});
  dp::detail::sum_channels<dp::backend::cpu>(
      0, shape, dp::detail::exact_moment_terms<float, float>{{sums.data()}, x.data(), keys.data(), unit});
  const auto scales = dp::detail::channel_scales<float>::in(statistics.data(), 3);
  const dp::detail::exact_statistics_functor<float> finish{
      keys.data(), sums.data(), unit, 4, {scales, mean.data(), variance.data(), 1, 0}};
  for (std::size_t c = 0; c < 3; ++c) finish(c);
  CHECK(std::isnan(mean[0]));
  CHECK(std::isnan(variance[0]));
  CHECK(mean[1] == 250001.5F);
  CHECK(variance[1] == Catch::Approx(2.49999e11 + 1.5).epsilon(1e-5));
  CHECK(mean[2] == 7);
  CHECK(variance[2] == 0);
}
