// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/upsample.hpp>

#include "support/layer_fixture.hpp"
#include "support/simt/backend.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("upsample agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>, dp::extents<2, 2, 3, 4>,
                                         dp::extents<2, 2, 6, 8>>("convolutions/upsample");
}

TEST_CASE("upsample's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>>(dp::seed{1}).worst < 1e-7);
}

TEST_CASE("upsample's GPU kernels equal the CPU", "[nn]") {
  const std::size_t rows = 7, columns = 5, factor = 3;
  std::vector<float> x(rows * columns), dy(x.size() * factor * factor);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 5);
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i % 17);
  const auto results = [&](auto backend) {
    using on = decltype(backend);
    std::vector<float> y(dy.size()), dx(x.size());
    dp::detail::for_each_index<on>(0, y.size(), 1,
                                   dp::detail::upsample_functor<float>{columns, factor, x.data(), y.data()});
    dp::detail::for_each_index<on>(0, dx.size(), 1,
                                   dp::detail::upsample_gradient_functor<float>{columns, factor, dy.data(), dx.data()});
    y.insert(y.end(), dx.begin(), dx.end());
    return y;
  };
  CHECK(results(dp::backend::cpu{}) == results(dp::test::simt::backend{}));
}
