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
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::detail::channel_shape;

namespace {

/// Sums of integers and of their products with the channel's number, both exact in any order.
struct integer_terms {
  using value_type = double;
  const float* x;
  double* result;

  struct summand {
    const float* x;
    double channel;
    DEVPLACE_HD dp::detail::pair_of<double> operator()(std::size_t i) const {
      const auto value = static_cast<double>(x[i]);
      return {value, value * channel};
    }
  };
  DEVPLACE_HD summand of_channel(std::size_t c) const { return {x, static_cast<double>(c + 1)}; }
  DEVPLACE_HD static constexpr double neutral() { return 0; }
  DEVPLACE_HD static constexpr void combine(double& a, double b) { a += b; }
  DEVPLACE_HD void store(std::size_t c, const dp::detail::pair_of<double>& sums) const {
    result[2 * c] = sums.first;
    result[2 * c + 1] = sums.second;
  }
};

}  // namespace

TEST_CASE("the kernel's and the CPU's sums over channels equal a loop's, for any shape", "[cuda]") {
  for (const auto& [samples, channels, extent] : {channel_shape{1, 1, 1},
                                                  {5, 3, 1},
                                                  {2, 70, 1},
                                                  {700, 5, 1},
                                                  {0, 3, 1},
                                                  {0, 2, 7},
                                                  {3, 2, 5},
                                                  {4, 1, 64},
                                                  {9, 17, 3},
                                                  {2, 3, 1100},
                                                  {40'000, 2, 1},
                                                  {3, 1, 30'000}}) {
    INFO(samples << " samples, " << channels << " channels, " << extent << " positions");
    const channel_shape shape{samples, channels, extent};
    mock::device_vector<float> x(std::max<std::size_t>(1, shape.size()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 23) - 11;
    mock::device_vector<double> expected(2 * channels), found(2 * channels, -1), on_cpu(2 * channels, -1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t c = i / extent % channels;
      expected[2 * c] += static_cast<double>(x[i]);
      expected[2 * c + 1] += static_cast<double>(x[i]) * static_cast<double>(c + 1);
    }
    if (extent == 1)
      mock::run_reduction<false>(dp::detail::channel_reduction(shape, integer_terms{x.data(), found.data()}));
    else
      mock::run_reduction<true>(dp::detail::channel_reduction(shape, integer_terms{x.data(), found.data()}));
    CHECK(found == expected);
    dp::detail::sum_channels<dp::backend::cpu>(0, shape, integer_terms{x.data(), on_cpu.data()});
    CHECK(on_cpu == expected);
  }
}
