// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functors of pooling and upsampling on a GPU give the CPU's results.

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <devplace/ops/pooling.hpp>
#include <devplace/ops/upsample.hpp>

#include "support/cuda_device.hpp"
#include "support/values_on.hpp"

namespace dp = devplace;
using cpu = dp::backend::cpu;
using gpu = dp::backend::cuda;

namespace {

/// Returns the results of a functor and of its gradient. `functor(to, from)` and `gradient(to, x, dy)` make them.
template <class Backend, class T, class Functor, class Gradient>
std::vector<T> results(std::size_t planes, const std::vector<T>& x, const std::vector<T>& dy, const Functor& functor,
                       const Gradient& gradient) {
  const dp::test::values_on<Backend, T> there(x), dy_there(dy), y(dy), dx(x);
  dp::detail::for_each_in_planes<Backend>(0, planes, dy.size() / planes, functor(y.data(), there.data()));
  dp::detail::for_each_in_planes<Backend>(0, planes, x.size() / planes,
                                          gradient(dx.data(), there.data(), dy_there.data()));
  std::vector<T> both = y.read();
  for (const T value : dx.read()) both.push_back(value);
  for (T& value : both)
    if (std::isnan(value)) value = 1000;  // equal to itself
  return both;
}

std::size_t planes_of(const dp::detail::pooling_shape& s) { return s.plane() < 50 ? 300 : 5; }

template <class Backend> std::vector<double> average_pool_results(const dp::detail::pooling_shape& s) {
  std::vector<double> x(planes_of(s) * s.plane()), dy(planes_of(s) * s.windows());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 5) * 6;
  for (std::size_t i = 0; i < dy.size(); ++i)
    dy[i] = (static_cast<double>(i % 17) - 8) * 6;  // multiples of the divisor, for exact sums in any order
  return results<Backend>(
      planes_of(s), x, dy,
      [&](double* to, double* from) { return dp::detail::average_pool_functor<double>{s, from, to}; },
      [&](double* to, double*, double* from) {
        return dp::detail::average_pool_gradient_functor<double>{s, from, to};
      });
}

template <class Backend> std::vector<float> max_pool_results(const dp::detail::pooling_shape& s) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(planes_of(s) * s.plane()), dy(planes_of(s) * s.windows());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 11 == 3 ? nan : i % 13 < 3 ? -infinity : static_cast<float>(i * 7 % 5);
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i % 17) - 8;
  return results<Backend>(
      planes_of(s), x, dy, [&](float* to, float* from) { return dp::detail::max_pool_functor<float>{s, from, to}; },
      [&](float* to, float* from, float* of) { return dp::detail::max_pool_gradient_functor<float>{s, from, of, to}; });
}

template <class Backend> std::vector<float> upsample_results() {
  const std::size_t rows = 7, columns = 5, factor = 3;
  std::vector<float> x(rows * columns), dy(x.size() * factor * factor);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 5);
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i % 17);
  return results<Backend>(
      1, x, dy, [&](float* to, float* from) { return dp::detail::upsample_functor<float>{columns, factor, from, to}; },
      [&](float* to, float*, float* of) {
        return dp::detail::upsample_gradient_functor<float>{columns, factor, of, to};
      });
}

}  // namespace

TEST_CASE("average pooling on a GPU equals the CPU's on exact sums", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const auto& s : {dp::detail::pooling_shape{{7, 4, 3, 2, 1, 1}, {6, 7, 2, 1, 1, 1}},
                        {{600, 200, 3, 3, 0, 1}, {1, 1, 1, 1, 0, 1}},
                        {{300, 300, 3, 1, 1, 1}, {2, 3, 2, 1, 1, 1}},
                        {{3, 4, 2, 1, 1, 1}, {300, 300, 3, 1, 1, 1}},
                        {{1, 1, 1, 1, 0, 1}, {4, 2, 2, 2, 0, 1}}})
    CHECK(average_pool_results<gpu>(s) == average_pool_results<cpu>(s));
}

TEST_CASE("max pooling on a GPU equals the CPU's on exact sums, with ties and special values", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const auto& s : {dp::detail::pooling_shape{{7, 3, 2, 2, 0, 1}, {6, 3, 2, 2, 0, 1}},
                        {{7, 4, 3, 2, 1, 1}, {6, 3, 3, 2, 1, 1}},
                        {{7, 5, 3, 1, 1, 2}, {6, 2, 2, 3, 0, 1}},
                        // Windows along columns, along rows and across planes.
                        {{600, 300, 2, 2, 0, 1}, {1, 1, 1, 1, 0, 1}},
                        {{300, 300, 3, 1, 1, 1}, {1, 1, 3, 1, 1, 1}},
                        {{70, 34, 3, 2, 1, 2}, {2, 3, 2, 1, 1, 1}},
                        {{3, 3, 3, 1, 1, 1}, {300, 300, 3, 1, 1, 1}},
                        {{1, 1, 1, 1, 0, 1}, {4, 2, 2, 2, 0, 1}},
                        {{7, 7, 3, 1, 1, 1}, {7, 7, 3, 1, 1, 1}},
                        // The columns -1 and 2 of two: the window lies in the padding.
                        {{1, 1, 1, 1, 0, 1}, {2, 1, 2, 1, 1, 3}}})
    CHECK(max_pool_results<gpu>(s) == max_pool_results<cpu>(s));
}

TEST_CASE("upsampling on a GPU equals the CPU's", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(upsample_results<gpu>() == upsample_results<cpu>());
}
