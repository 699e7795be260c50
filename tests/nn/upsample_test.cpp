// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/upsample.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("upsample agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>, dp::extents<2, 2, 3, 4>,
                                         dp::extents<2, 2, 6, 8>>("convolutions/upsample");
}

TEMPLATE_TEST_CASE("upsample of a range of elements has the bits of single elements", "[nn]", float, double, dp::bf16) {
  using T = TestType;
  const auto check = [](std::size_t elements, const auto& make) {
    std::vector<T> ranges(elements), single(elements);
    for (std::size_t begin = 0, length = 1; begin < elements; begin += length, length = length * 2 + 1) {
      const std::size_t end = std::min(elements, begin + length);
      if constexpr (requires { make(ranges.data()).range(begin, end); })
        make(ranges.data()).range(begin, end);
      else
        for (std::size_t i = begin; i < end; ++i) make(ranges.data())(i);
    }
    for (std::size_t i = 0; i < elements; ++i) make(single.data())(i);
    CHECK(std::memcmp(ranges.data(), single.data(), elements * sizeof(T)) == 0);
  };
  for (std::size_t columns = 1; columns <= 20; ++columns)
    for (std::size_t factor = 1; factor <= 3; ++factor) {
      CAPTURE(columns, factor);
      constexpr std::size_t rows = 5;
      std::vector<T> x(rows * columns), dy(x.size() * factor * factor);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<float>(i * 7 % 11) / 3);
      for (std::size_t i = 0; i < dy.size(); ++i)
        dy[i] = static_cast<T>(i % 5 == 0 ? -0.0f : 0.1f * static_cast<float>(i % 13));
      check(dy.size(), [&](T* y) { return dp::detail::upsample_functor<T>{columns, factor, x.data(), y}; });
      check(x.size(), [&](T* dx) { return dp::detail::upsample_gradient_functor<T>{columns, factor, dy.data(), dx}; });
    }
}

TEST_CASE("upsample's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>>(dp::seed{1}).worst < 1e-7);
}
