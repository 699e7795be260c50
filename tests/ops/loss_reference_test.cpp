// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares losses, softmax and reductions with PyTorch's results in tests/reference.

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/fixture.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class T> constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;

template <class T, std::size_t Rank> auto read(const std::string& reference_case, const std::string& name) {
  const std::string type = std::is_integral_v<T> ? "" : std::is_same_v<T, float> ? "f32/" : "f64/";
  return dp::test::read_fixture<T, dp::dextents<Rank>>(reference_case + "/" + type + name);
}

template <class X, class Expected> void check_close(const X& x, const Expected& expected) {
  using value = typename X::value_type;
  REQUIRE(x.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto a = static_cast<double>(x.data()[i]), b = static_cast<double>(expected.data()[i]);
    if (!(std::isnan(a) && std::isnan(b))) worst = std::fmax(worst, std::fabs(a - b) / std::fmax(1, std::fabs(b)));
    CHECK(std::isnan(a) == std::isnan(b));
  }
  CHECK(worst <= tolerance<value>);
}

// Divides a gradient like its loss.
template <class T> void divide(dp::tensor<T, dp::dextents<2>, on_cpu>& gradient, bool mean, T divisor) {
  if (!mean || divisor == 0) return;
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient.data()[i] /= divisor;
}

template <class T> void check_cross_entropy(const std::string& variant, bool mean, std::size_t classes) {
  const std::string name = "losses/cross_entropy_" + variant + (mean ? "_mean_c" : "_sum_c") + std::to_string(classes);
  INFO(name);
  const auto logits = read<T, 2>(name, "logits");
  const auto labels = read<std::int64_t, 1>(name, "labels");
  dp::tensor<T, dp::dextents<1>, on_cpu> weights(dp::dextents<1>{0});
  dp::cross_entropy_options<T> options;
  if (variant == "smoothing" || variant == "combined" || variant == "ignore_class_1")
    options.label_smoothing = static_cast<T>(0.1);
  if (variant == "weight" || variant == "combined" || variant == "ignore_class_1") {
    weights = read<T, 1>(name, "class_weight");
    options.class_weights = weights.data();
  }
  if (variant == "ignore_class_1") options.ignore_index = 1;
  check_close(dp::cross_entropy(logits, labels, options, mean ? dp::reduction::mean : dp::reduction::sum),
              read<T, 1>(name, "loss"));
  dp::tensor<T, dp::extents<2>, on_cpu> sums(dp::extents<2>{});
  dp::tensor<T, dp::dextents<1>, on_cpu> losses(dp::dextents<1>{logits.extent(0)});
  dp::tensor<T, dp::dextents<2>, on_cpu> gradient(logits.extents());
  dp::cross_entropy_into(sums, gradient, losses, logits, labels, options);
  divide(gradient, mean, sums(1));
  check_close(gradient, read<T, 2>(name, "dlogits"));
}

template <class T, std::size_t Axis> void check_axis() {
  const std::string name = "reductions/axis" + std::to_string(Axis);
  const auto x = read<T, 3>(name, "x");
  check_close(dp::sum(x, dp::axis<Axis>{}), read<T, 2>(name, "sum"));
  check_close(dp::mean(x, dp::axis<Axis>{}), read<T, 2>(name, "mean"));
  check_close(dp::max(x, dp::axis<Axis>{}), read<T, 2>(name, "max"));
  const auto positions = dp::argmax(x, dp::axis<Axis>{});
  const auto expected = read<std::int64_t, 2>(name, "argmax");
  REQUIRE(positions.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(positions.data()[i] == expected.data()[i]);
}

}  // namespace

TEMPLATE_TEST_CASE("cross_entropy agrees with PyTorch", "[ops][reference]", FLOATING_TYPES) {
  for (const bool mean : {false, true}) {
    for (const std::size_t classes : {3u, 10u, 1000u}) {
      for (const char* variant : {"plain", "ignore", "ignore_all", "smoothing", "weight", "combined"})
        check_cross_entropy<TestType>(variant, mean, classes);
    }
    check_cross_entropy<TestType>("ignore_class_1", mean, 10);
    check_cross_entropy<TestType>("large", mean, 10);
  }
}

TEMPLATE_TEST_CASE("mse agrees with PyTorch", "[ops][reference]", FLOATING_TYPES) {
  for (const bool mean : {false, true}) {
    const std::string name = mean ? "losses/mse_mean" : "losses/mse_sum";
    const auto y = read<TestType, 2>(name, "prediction");
    const auto target = read<TestType, 2>(name, "target");
    check_close(dp::mse(y, target, mean ? dp::reduction::mean : dp::reduction::sum), read<TestType, 1>(name, "loss"));
    dp::tensor<TestType, dp::extents<2>, on_cpu> sums(dp::extents<2>{});
    dp::tensor<TestType, dp::dextents<1>, on_cpu> losses(dp::dextents<1>{y.extent(0)});
    dp::tensor<TestType, dp::dextents<2>, on_cpu> gradient(y.extents());
    dp::mse_into(sums, gradient, losses, y, target);
    divide(gradient, mean, sums(1));
    check_close(gradient, read<TestType, 2>(name, "dprediction"));
  }
}

TEMPLATE_TEST_CASE("softmax, log_softmax and their gradients agree with PyTorch", "[ops][reference]", FLOATING_TYPES) {
  for (const char* suffix : {"", "_large"}) {
    const std::string name = std::string("layers/softmax") + suffix;
    const auto x = read<TestType, 2>(name, "x");
    const auto y = dp::softmax(x);
    check_close(y, read<TestType, 2>(name, "y"));
    auto dx = read<TestType, 2>(name, "dy");
    dp::softmax_backward_into(dx, y, dx);
    check_close(dx, read<TestType, 2>(name, "dx"));

    const std::string log_name = std::string("layers/log_softmax") + suffix;
    const auto log_y = dp::log_softmax(read<TestType, 2>(log_name, "x"));
    check_close(log_y, read<TestType, 2>(log_name, "y"));
    auto log_dx = read<TestType, 2>(log_name, "dy");
    dp::log_softmax_backward_into(log_dx, log_y, log_dx);
    check_close(log_dx, read<TestType, 2>(log_name, "dx"));
  }
}

TEMPLATE_TEST_CASE("reductions agree with PyTorch", "[ops][reference]", FLOATING_TYPES) {
  check_axis<TestType, 0>();
  check_axis<TestType, 1>();
  check_axis<TestType, 2>();
  const auto x = read<TestType, 3>("reductions/all", "x");
  check_close(dp::sum(x), read<TestType, 1>("reductions/all", "sum"));
  check_close(dp::mean(x), read<TestType, 1>("reductions/all", "mean"));
  check_close(dp::max(x), read<TestType, 1>("reductions/all", "max"));
  CHECK(dp::argmax(x)() == read<std::int64_t, 1>("reductions/all", "argmax")(0));
}
