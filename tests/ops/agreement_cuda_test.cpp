// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operations with their own kernels agree on GPU and CPU, up to the effects of summation order and FMA: for empty,
// single, odd and large shapes, and on both sides of every limit between kernels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using dp::test::random_values;

namespace {

using host = dp::on<dp::cpu>;
using gpu = dp::on<dp::cuda<0>>;
using shape = dp::extents<dp::dyn, dp::dyn>;

struct size {
  std::size_t rows, columns;
};
constexpr std::size_t many = support::on_software_gpu ? 503 : 1003;
constexpr size sizes[] = {{0, 10},  {1, 1},   {1, 10},   {10, 10},  {33, 16},    {33, 17},
                          {10, 33}, {5, 129}, {3, 1024}, {3, 1025}, {2, 50'000}, {many, many - 6}};

/// A few rounding errors, relative to the result.
template <class T> constexpr double few_roundings = sizeof(T) == sizeof(float) ? 4e-6 : 1e-13;

/// Returns the largest difference between elements on the GPU and on the CPU, relative to the CPU's if that is at least
/// `smallest`; infinite if only one of them is NaN or infinite.
template <class There, class Here> double error(const There& there, const Here& here, double smallest) {
  const auto a = support::values_of(there);
  const auto b = support::values_of(here);
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto p = static_cast<double>(a[i]), q = static_cast<double>(b[i]);
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double difference = std::abs(p - q) / std::max(std::abs(q), smallest);
    if (!(difference < INFINITY)) return INFINITY;
    worst = std::max(worst, difference);
  }
  return worst;
}

/// Returns the largest difference relative to the CPU's largest element, for elements that are differences of numbers
/// of that size.
template <class There, class Here> double error_of_largest(const There& there, const Here& here) {
  double largest = std::numeric_limits<double>::min();
  for (const auto x : support::values_of(here))
    if (std::isfinite(static_cast<double>(x))) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return error(there, here, largest);
}

/// The results of cross_entropy_into.
template <class T, class Where> struct losses {
  dp::tensor<T, dp::extents<2>, Where> sums{dp::extents<2>{}};
  dp::tensor<T, shape, Where> gradient;
  dp::tensor<T, dp::extents<dp::dyn>, Where> of_rows;

  explicit losses(const size& of) : gradient(shape{of.rows, of.columns}), of_rows(dp::extents<dp::dyn>{of.rows}) {}
};

template <class T, class Label> auto labels_of(const size& of) {
  dp::tensor<Label, dp::extents<dp::dyn>, host> labels(dp::extents<dp::dyn>{of.rows});
  for (std::size_t row = 0; row < of.rows; ++row)
    labels(row) = static_cast<Label>(row * 7919 % std::min<std::size_t>(of.columns, 200));
  return labels;
}

template <class T, class Label>
void check_cross_entropy(const dp::tensor<T, shape, host>& x,
                         const dp::tensor<Label, dp::extents<dp::dyn>, host>& labels, std::int64_t ignore_index,
                         T smoothing, bool weighted) {
  const size of{x.extent(0), x.extent(1)};
  const auto weights = random_values<T>(dp::extents<dp::dyn>{of.columns}, 3, 0, 2);
  const auto weights_there = dp::to<gpu>(weights);
  const auto options = [&](const T* class_weights) {
    return dp::cross_entropy_options<T>{ignore_index, smoothing, weighted ? class_weights : nullptr};
  };
  losses<T, host> here(of);
  dp::cross_entropy_into(here.sums, here.gradient, here.of_rows, x, labels, options(weights.data()));

  const auto labels_there = dp::to<gpu>(labels);
  auto x_there = dp::to<gpu>(x);
  losses<T, gpu> there(of);
  const auto check = [&](const auto& gradient) {
    CHECK(error(there.sums, here.sums, 1) < few_roundings<T>);
    CHECK(error(there.of_rows, here.of_rows, 1) < few_roundings<T>);
    CHECK(error_of_largest(gradient, here.gradient) < few_roundings<T>);
  };
  dp::cross_entropy_into(there.sums, there.gradient, there.of_rows, x_there, labels_there,
                         options(weights_there.data().get()));
  check(there.gradient);
  const auto loss_alone =
      dp::cross_entropy(x_there, labels_there, options(weights_there.data().get()), dp::reduction::sum);
  CHECK(error(loss_alone, there.sums[0], 0) == 0);
  dp::cross_entropy_into(there.sums, x_there, there.of_rows, x_there, labels_there,
                         options(weights_there.data().get()));
  check(x_there);
}

}  // namespace

TEMPLATE_TEST_CASE("a GPU's softmax, log_softmax and their gradients equal the CPU's", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  for (const size& of : sizes) {
    INFO(of.rows << " rows of " << of.columns);
    const auto x = random_values<T>(shape{of.rows, of.columns}, 1, -8, 8);
    const auto dy = random_values<T>(shape{of.rows, of.columns}, 2);
    const auto x_there = dp::to<gpu>(x);
    const auto dy_there = dp::to<gpu>(dy);
    const auto y = dp::softmax(x), log_y = dp::log_softmax(x);
    auto dx = x.clone();
    CHECK(error(dp::softmax(x_there), y, 0) < few_roundings<T>);
    CHECK(error(dp::log_softmax(x_there), log_y, 1) < few_roundings<T>);

    auto in_place = x_there.clone();
    dp::softmax_into(in_place, in_place);
    CHECK(error(in_place, y, 0) < few_roundings<T>);
    dp::softmax_backward_into(dx, y, dy);
    dp::softmax_backward_into(in_place, dp::to<gpu>(y), dy_there);
    CHECK(error_of_largest(in_place, dx) < few_roundings<T>);
    dp::log_softmax_backward_into(dx, log_y, dy);
    dp::copy(in_place, dy_there);
    dp::log_softmax_backward_into(in_place, dp::to<gpu>(log_y), in_place);
    CHECK(error_of_largest(in_place, dx) < few_roundings<T>);
  }
}

using float_and_int64 = std::tuple<float, std::int64_t>;
using float_and_uint8 = std::tuple<float, std::uint8_t>;
using double_and_int32 = std::tuple<double, std::int32_t>;
TEMPLATE_TEST_CASE("a GPU's cross-entropy equals the CPU's, with weights, smoothing and ignored rows", "[ops]",
                   float_and_int64, float_and_uint8, double_and_int32) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = std::tuple_element_t<0, TestType>;
  using label = std::tuple_element_t<1, TestType>;
  for (const size& of : sizes) {
    INFO(of.rows << " rows of " << of.columns);
    const auto x = random_values<T>(shape{of.rows, of.columns}, 1, -8, 8);
    auto labels = labels_of<T, label>(of);
    check_cross_entropy<T, label>(x, labels, -100, 0, false);
    if (of.rows > 2) labels(2) = label{127};
    check_cross_entropy<T, label>(x, labels, 127, static_cast<T>(0.1), true);
  }
}

TEMPLATE_TEST_CASE("GPU and CPU agree for NaN and infinite logits", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::size_t n : {std::size_t{2}, std::size_t{10}, std::size_t{100}, std::size_t{1500}}) {
    INFO("rows of " << n);
    auto x = random_values<T>(shape{9, n}, 1, -8, 8);
    const std::size_t target = 1;
    x(0, 0) = nan;
    x(1, target) = nan;
    x(2, 0) = infinity;
    x(3, target) = infinity;
    x(4, 0) = -infinity;
    x(5, target) = -infinity;
    for (std::size_t c = 0; c < n; ++c) x(6, c) = -infinity;
    for (std::size_t c = 0; c < n; ++c)
      x(7, c) = c == target ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
    dp::tensor<std::int64_t, dp::extents<dp::dyn>, host> labels(dp::extents<dp::dyn>{9});
    dp::fill(labels, target);
    for (std::size_t row = 0; row < 9; ++row) {  // one row at a time, because a single NaN makes the sums NaN
      INFO("row " << row);
      const auto alone = dp::to<host>(x.slice(row, row + 1));
      const auto alone_there = dp::to<gpu>(alone);
      CHECK(error(dp::softmax(alone_there), dp::softmax(alone), 0) < few_roundings<T>);
      CHECK(error(dp::log_softmax(alone_there), dp::log_softmax(alone), 1) < few_roundings<T>);
      CHECK(error(dp::max(alone_there, dp::axis<1>{}), dp::max(alone, dp::axis<1>{}), 0) == 0);
      CHECK(error(dp::argmax(alone_there, dp::axis<1>{}), dp::argmax(alone, dp::axis<1>{}), 0) == 0);
      check_cross_entropy<T, std::int64_t>(dp::tensor<T, shape, host>(alone.clone()), dp::to<host>(labels.slice(0, 1)),
                                           -100, 0, false);
    }
  }
}

TEST_CASE("an invalid label on a GPU makes both sums and only its row NaN", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const std::size_t n : {std::size_t{10}, std::size_t{100}, std::size_t{1500}}) {
    INFO(n << " classes");
    const auto x = dp::to<gpu>(random_values<float>(shape{5, n}, 1, -8, 8));
    dp::tensor<std::int64_t, dp::extents<dp::dyn>, host> labels(dp::extents<dp::dyn>{5});
    dp::fill(labels, 1);
    labels(2) = static_cast<std::int64_t>(n);
    losses<float, gpu> there({5, n});
    dp::cross_entropy_into(there.sums, there.gradient, there.of_rows, x, dp::to<gpu>(labels));
    const auto sums = support::values_of(there.sums), gradient = support::values_of(there.gradient);
    CHECK(std::isnan(sums[0]));
    CHECK(std::isnan(sums[1]));
    for (std::size_t i = 0; i < gradient.size(); ++i) REQUIRE(std::isnan(gradient[i]) == (i / n == 2));
  }
}

TEMPLATE_TEST_CASE("a GPU's mse equals the CPU's", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  for (const size& of : sizes) {
    INFO(of.rows << " rows of " << of.columns);
    const auto y = random_values<T>(shape{of.rows, of.columns}, 1);
    const auto target = random_values<T>(shape{of.rows, of.columns}, 2);
    losses<T, host> here(of);
    losses<T, gpu> there(of);
    dp::mse_into(here.sums, here.gradient, here.of_rows, y, target);
    dp::mse_into(there.sums, there.gradient, there.of_rows, dp::to<gpu>(y), dp::to<gpu>(target));
    CHECK(error(there.sums, here.sums, 0) < few_roundings<T>);
    CHECK(error(there.of_rows, here.of_rows, 0) < few_roundings<T>);
    CHECK(error(there.gradient, here.gradient, 0) == 0);
  }
}

TEMPLATE_TEST_CASE("a GPU's reductions of fractions equal the CPU's", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  for (const size& of : sizes) {
    INFO(of.rows << " rows of " << of.columns);
    const auto x = random_values<T>(shape{of.rows, of.columns}, 1);
    const auto there = dp::to<gpu>(x);
    const double smallest = 1;  // smaller results are affected by cancellation
    CHECK(error(dp::sum(there), dp::sum(x), smallest) < few_roundings<T>);
    CHECK(error(dp::sum(there, dp::axis<0>{}), dp::sum(x, dp::axis<0>{}), smallest) < few_roundings<T>);
    CHECK(error(dp::mean(there, dp::axis<1>{}), dp::mean(x, dp::axis<1>{}), smallest) < few_roundings<T>);
    auto sums = random_values<T>(dp::extents<dp::dyn>{of.columns}, 2);
    auto sums_there = dp::to<gpu>(sums);
    dp::sum_into(sums, x, {.accumulate = true}, dp::axis<0>{});
    dp::sum_into(sums_there, there, {.accumulate = true}, dp::axis<0>{});
    CHECK(error(sums_there, sums, smallest) < few_roundings<T>);
    CHECK(error(dp::sum(dp::square(there)), dp::sum(dp::square(x)), 0) < few_roundings<T>);
    CHECK(support::values_of(dp::argmin(there, dp::axis<1>{})) == support::values_of(dp::argmin(x, dp::axis<1>{})));
    if (of.rows == 0) continue;  // extrema of no elements do not exist
    CHECK(support::values_of(dp::max(there)) == support::values_of(dp::max(x)));
    CHECK(support::values_of(dp::min(there, dp::axis<0>{})) == support::values_of(dp::min(x, dp::axis<0>{})));
  }
}

TEMPLATE_TEST_CASE("a GPU counts as many right predictions as the CPU", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const size& of : sizes) {
    const auto x = random_values<TestType>(shape{of.rows, of.columns}, 1);
    const auto labels = labels_of<TestType, std::uint8_t>(of);
    const auto count = [&]<class Where>(Where) {
      const auto classes = dp::argmax(dp::to<Where>(x), dp::axis<1>{});
      return support::values_of(dp::sum(classes == dp::cast<std::int64_t>(dp::to<Where>(labels))));
    };
    CHECK(count(gpu{}) == count(host{}));
  }
}

TEMPLATE_TEST_CASE("a GPU's elementwise results equal the CPU's on shapes of all sizes", "[ops]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  for (const size& of : sizes) {
    INFO(of.rows << " rows of " << of.columns);
    const auto x = random_values<T>(shape{of.rows, of.columns}, 1);
    const auto row = random_values<T>(dp::extents<dp::dyn>{of.columns}, 2);
    const dp::tensor here = dp::relu(x - row) / T{3};
    const dp::tensor there = dp::relu(dp::to<gpu>(x) - dp::to<gpu>(row)) / T{3};
    CHECK(support::values_of(there) == support::values_of(here));
  }
}

TEST_CASE("a GPU handles more than 2^31 elements", "[ops][large]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  if (support::on_software_gpu) DEVPLACE_SKIP("the GPU in software would need minutes and 20 GiB");
  const std::size_t rows = (std::size_t{1} << 21) + 1, n = 1024;
  {
    dp::tensor<std::uint8_t, shape, gpu> bytes(shape{rows, n});
    dp::fill(bytes, 3);
    dp::fill(bytes[rows - 1], 5);
    CHECK(support::values_of(dp::sum(bytes))[0] == static_cast<std::int64_t>((rows - 1) * n * 3 + n * 5));
    CHECK(support::values_of(dp::argmax(bytes))[0] == static_cast<std::int64_t>((rows - 1) * n));
  }
  dp::trim_memory<dp::cuda<0>>();
  if (dp::list_devices()[1].memory_free < rows * n * sizeof(float) * 5 / 4) return;
  dp::tensor<float, shape, gpu> x(shape{rows, n});
  dp::fill(x, 2.0F);
  dp::softmax_into(x, x);
  CHECK(support::values_of(dp::min(x))[0] == 1.0F / 1024);
  CHECK(support::values_of(dp::sum(x))[0] == static_cast<float>(rows));
}
