// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/max_pool1d.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

namespace {

template <class Layer> using of_image = nn::sequential<nn::input<2, 7, 6>, Layer>;
template <class Layer> using of_series = nn::sequential<nn::input<3, 11>, Layer>;

using max_two = nn::max_pool2d<nn::kernel<2>>;
using max_overlapping = nn::max_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>;
using max_everything = nn::max_pool2d<nn::kernel<3, 2>, nn::stride<1, 3>, nn::padding<1, 0>, nn::dilation<2, 1>>;
using max_of_series = of_series<nn::max_pool1d<nn::kernel<3>, nn::stride<2>, nn::padding<1>, nn::dilation<2>>>;

using average_two = nn::avg_pool2d<nn::kernel<2>>;
using average_overlapping = nn::avg_pool2d<nn::kernel<3, 2>, nn::stride<2, 1>, nn::padding<1>>;
using average_of_series = of_series<nn::avg_pool1d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>>;

using global_of_image = nn::sequential<nn::input<2, 5, 3>, nn::global_average_pool>;
using global_of_series = nn::sequential<nn::input<2, 5>, nn::global_average_pool>;

}  // namespace

TEST_CASE("max_pool2d agrees with PyTorch, also in the choice of the maximum that gets the gradient", "[nn]") {
  using in = dp::extents<2, 2, 7, 6>;
  for (const std::string name : {"convolutions/max_pool", "convolutions/max_of_ties_pool"}) {
    compare_with_pytorch<of_image<max_two>, double, in, dp::extents<2, 2, 3, 3>>(name);
    compare_with_pytorch<of_image<max_overlapping>, double, in, dp::extents<2, 2, 4, 3>>(name + "_overlapping");
    compare_with_pytorch_in_both<of_image<max_everything>, in, dp::extents<2, 2, 5, 2>>(name + "_everything");
  }
}

TEST_CASE("max_pool2d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<of_image<max_two>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<of_image<max_overlapping>>(dp::seed{2}).worst < 1e-7);
  CHECK(nn::check_gradients<of_image<max_everything>>(dp::seed{3}).worst < 1e-7);
}

TEST_CASE("the last NaN of a window is the maximum", "[nn]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, nan, nan, 4}, dy{5};
  std::vector<float> y(1), dx(4);
  const dp::detail::pooling_shape s{{2, 1, 2, 2, 0, 1}, {2, 1, 2, 2, 0, 1}};
  dp::detail::for_each_in_planes<dp::backend::cpu>(0, 1, 1, dp::detail::max_pool_functor<float>{s, x.data(), y.data()});
  dp::detail::for_each_in_planes<dp::backend::cpu>(
      0, 1, 4, dp::detail::max_pool_gradient_functor<float>{s, x.data(), dy.data(), dx.data()});
  CHECK(std::isnan(y[0]));
  CHECK(dx == std::vector<float>{0, 0, 5, 0});
}

TEMPLATE_TEST_CASE("rows of 2 x 2 windows in vectors have the bits of single windows", "[nn]", float, double) {
  using T = TestType;
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> values{0, -T{0}, 1, 1, T{1} / 10, -2, infinity, -infinity, nan};
  std::size_t place = 0;
  const auto numbers = [&](std::size_t n) {
    std::vector<T> result(n);
    for (T& x : result) {
      place = (place * 5 + place / 7 + 1) % 100'003;
      x = values[place % values.size()];
    }
    return result;
  };
  const auto check = [](std::size_t planes, std::size_t plane, const auto& make) {
    std::vector<T> together(planes * plane, T{7}), single(planes * plane, T{7});
    make(together.data()).range(0, together.size());
    for (std::size_t i = 0; i < single.size(); ++i) make(single.data())(i);
    for (std::size_t i = 0; i < single.size(); ++i)
      if (!std::isnan(single[i]) || !std::isnan(together[i]))
        REQUIRE(std::memcmp(&single[i], &together[i], sizeof(T)) == 0);
  };
  const auto axis = [](std::size_t in, std::size_t dilation) {
    return dp::detail::window_axis{in, (in - 1 - dilation) / 2 + 1, 2, 2, 0, dilation};
  };
  for (std::size_t columns = 3; columns <= 35; ++columns)
    for (std::size_t rows = 3; rows <= 6; ++rows) {
      constexpr std::size_t planes = 3;
      CAPTURE(columns, rows);
      const dp::detail::pooling_shape s{axis(rows, rows == 6 ? 2 : 1), axis(columns, rows == 5 ? 2 : 1)};
      const auto x = numbers(planes * s.plane()), dy = numbers(planes * s.windows());
      using namespace dp::detail;
      check(planes, s.windows(), [&](T* y) { return max_pool_functor<T>{s, x.data(), y}; });
      check(planes, s.windows(), [&](T* y) { return average_pool_functor<T>{s, x.data(), y}; });
      check(planes, s.plane(), [&](T* dx) { return max_pool_gradient_functor<T>{s, x.data(), dy.data(), dx}; });
      check(planes, s.plane(), [&](T* dx) { return average_pool_gradient_functor<T>{s, dy.data(), dx}; });
    }
}

TEST_CASE("a window that lies in the padding gives -infinity and propagates no gradient", "[nn]") {
  const std::vector<float> x{3, 4}, dy{5};
  const dp::detail::pooling_shape s{{1, 1, 1, 1, 0, 1}, {2, 1, 2, 1, 1, 3}};  // reads the columns -1 and 2 of two
  using cpu = dp::backend::cpu;
  std::vector<float> y(1), dx(2);
  dp::detail::for_each_in_planes<cpu>(0, 1, 1, dp::detail::max_pool_functor<float>{s, x.data(), y.data()});
  dp::detail::for_each_in_planes<cpu>(0, 1, 2,
                                      dp::detail::max_pool_gradient_functor<float>{s, x.data(), dy.data(), dx.data()});
  CHECK(y[0] == -std::numeric_limits<float>::infinity());
  CHECK(dx == std::vector<float>{0, 0});
}

TEST_CASE("max_pool1d agrees with PyTorch", "[nn]") {
  compare_with_pytorch<max_of_series, double, dp::extents<2, 3, 11>, dp::extents<2, 3, 5>>(
      "convolutions/max_pool_one_axis");
}

TEST_CASE("max_pool1d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<max_of_series>(dp::seed{1}).worst < 1e-7);
}

TEST_CASE("avg_pool2d agrees with PyTorch, including padding in means", "[nn]") {
  using in = dp::extents<2, 2, 7, 6>;
  compare_with_pytorch<of_image<average_two>, double, in, dp::extents<2, 2, 3, 3>>("convolutions/average_pool");
  compare_with_pytorch_in_both<of_image<average_overlapping>, in, dp::extents<2, 2, 4, 7>>(
      "convolutions/average_pool_overlapping");
}

TEST_CASE("avg_pool2d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<of_image<average_two>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<of_image<average_overlapping>>(dp::seed{2}).worst < 1e-7);
}

TEST_CASE("avg_pool1d agrees with PyTorch", "[nn]") {
  compare_with_pytorch<average_of_series, double, dp::extents<2, 3, 11>, dp::extents<2, 3, 6>>(
      "convolutions/average_pool_one_axis");
}

TEST_CASE("avg_pool1d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<average_of_series>(dp::seed{1}).worst < 1e-7);
}

TEST_CASE("global_average_pool agrees with PyTorch", "[nn]") {
  compare_with_pytorch_in_both<global_of_image, dp::extents<3, 2, 5, 3>, dp::extents<3, 2>>(
      "convolutions/global_average_pool");
  compare_with_pytorch<global_of_series, double, dp::extents<3, 2, 5>, dp::extents<3, 2>>(
      "convolutions/global_average_pool_one_axis");
}

TEST_CASE("global_average_pool's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<global_of_image>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<global_of_series>(dp::seed{1}).worst < 1e-7);
}
