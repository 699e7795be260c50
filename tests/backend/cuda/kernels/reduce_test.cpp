// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/reduce.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

/// Small integers, whose sums are exact in any order.
float element(std::size_t i) {
  return static_cast<float>((i * 7919) % 23) - 11;
}

struct elements {
  std::size_t outer, count, inner;
  std::vector<float> values;
  elements(std::size_t o, std::size_t c, std::size_t i) : outer(o), count(c), inner(i), values(o * c * i) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = element(k);
  }

  template <unsigned Threads, class Reducer>
  void reduce(const Reducer& reducer, std::uint32_t seed, unsigned blocks) const {
    using source = dp::detail::element_source<float>;
    simt::launch(blocks,
                 dp::detail::reduce_kernel<Threads, source, Reducer>{{outer, count, inner, {values.data()}, reducer}},
                 seed);
  }
};

}  // namespace

TEST_CASE("the reduction kernel's sums are those of a loop, for any shape and number of blocks", "[cuda]") {
  for (const auto& [o, c, i] :
       {std::array<std::size_t, 3>{1, 1, 1}, {3, 5, 1}, {1, 64, 2}, {2, 63, 3}, {1, 1000, 1}, {4, 0, 2}, {5, 129, 1}}) {
    const elements x(o, c, i);
    std::vector<float> expected(o * i, 1.0F);
    for (std::size_t k = 0; k < x.values.size(); ++k)
      expected[k / (c * i) * i + k % i] += x.values[k];
    for (const unsigned blocks : {1u, 3u, 7u}) {
      std::vector<float> sums(o * i, 1.0F);
      x.reduce<64>(dp::detail::sum_reducer<float>{sums.data(), 1.0F}, 10 * blocks, blocks);
      CHECK(sums == expected);
    }
    std::vector<float> sums(o * i, std::numeric_limits<float>::quiet_NaN());  // beta 0 does not read it
    x.reduce<1024>(dp::detail::sum_reducer<float>{sums.data(), 0.0F}, 5, 1);
    for (float& sum : sums)
      sum += 1;
    CHECK(sums == expected);
  }
}

TEST_CASE("the reduction kernel finds the first of equal extrema, and NaN", "[cuda]") {
  elements x(1, 200, 1);
  const auto position = [&] {
    std::int64_t result = -1;
    x.reduce<64>(dp::detail::extremum_position_reducer<float, true>{&result}, 3, 1);
    return result;
  };
  x.values[150] = x.values[70] = x.values[131] = 99;
  CHECK(position() == 70);
  x.values[199] = std::numeric_limits<float>::quiet_NaN();
  CHECK(position() == 199);
  float largest = 0;
  x.reduce<64>(dp::detail::extremum_reducer<float, true>{&largest}, 3, 1);
  CHECK(largest != largest);
}
