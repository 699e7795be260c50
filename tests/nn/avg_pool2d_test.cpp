// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>

#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"
#include "support/simt/backend.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

namespace {

using two = nn::avg_pool2d<nn::kernel<2>>;
using overlapping = nn::avg_pool2d<nn::kernel<3, 2>, nn::stride<2, 1>, nn::padding<1>>;

template <class Layer> using net = nn::sequential<nn::input<2, 7, 6>, Layer>;

}  // namespace

TEST_CASE("avg_pool2d agrees with PyTorch, including padding in means", "[nn]") {
  using in = dp::extents<2, 2, 7, 6>;
  compare_with_pytorch<net<two>, double, in, dp::extents<2, 2, 3, 3>>("convolutions/average_pool");
  compare_with_pytorch_in_both<net<overlapping>, in, dp::extents<2, 2, 4, 7>>("convolutions/average_pool_overlapping");
}

TEST_CASE("avg_pool2d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<net<two>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<net<overlapping>>(dp::seed{2}).worst < 1e-7);
}

TEST_CASE("avg_pool2d's GPU kernels equal the CPU", "[nn]") {
  const auto s = GENERATE(dp::detail::pooling_shape{{7, 4, 3, 2, 1, 1}, {6, 7, 2, 1, 1, 1}},
                          dp::detail::pooling_shape{{600, 200, 3, 3, 0, 1}, {1, 1, 1, 1, 0, 1}},
                          dp::detail::pooling_shape{{300, 300, 3, 1, 1, 1}, {2, 3, 2, 1, 1, 1}},
                          dp::detail::pooling_shape{{3, 4, 2, 1, 1, 1}, {300, 300, 3, 1, 1, 1}},
                          dp::detail::pooling_shape{{1, 1, 1, 1, 0, 1}, {4, 2, 2, 2, 0, 1}});
  const std::size_t planes = s.plane() < 50 ? 300 : 5;
  std::vector<double> x(planes * s.plane()), dy(planes * s.windows());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 5) * 6;
  for (std::size_t i = 0; i < dy.size(); ++i)
    dy[i] = (static_cast<double>(i % 17) - 8) * 6;  // multiples of the divisor, for exact sums in any order
  const auto results = [&](auto backend) {
    using on = decltype(backend);
    std::vector<double> y(dy.size()), dx(x.size());
    dp::detail::for_each_in_planes<on>(0, planes, s.windows(),
                                       dp::detail::average_pool_functor<double>{s, x.data(), y.data()});
    dp::detail::for_each_in_planes<on>(0, planes, s.plane(),
                                       dp::detail::average_pool_gradient_functor<double>{s, dy.data(), dx.data()});
    y.insert(y.end(), dx.begin(), dx.end());
    return y;
  };
  CHECK(results(dp::backend::cpu{}) == results(dp::test::simt::backend{}));
}
