// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/cross_entropy.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/memory/statistics.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class T> constexpr double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;

// The formula of PyTorch's documentation in plain loops and long double.
template <class T> struct reference {
  std::vector<double> dlogits, losses;
  double loss = 0, weight = 0;

  template <class Logits, class Labels>
  reference(const Logits& x, const Labels& labels, const dp::cross_entropy_options<T>& options)
      : dlogits(x.size()), losses(x.extent(0)) {
    const std::size_t n = x.extent(1);
    const auto e = static_cast<long double>(options.label_smoothing);
    const auto w = [&](std::size_t c) {
      return options.class_weights == nullptr ? 1.0L : static_cast<long double>(options.class_weights[c]);
    };
    for (std::size_t r = 0; r < x.extent(0); ++r) {
      const auto label = static_cast<std::int64_t>(labels(r));
      if (label == options.ignore_index) continue;
      const auto y = static_cast<std::size_t>(label);
      const auto logit = [&](std::size_t c) { return static_cast<long double>(x(r, c)); };
      long double max = logit(0), sum = 0, all_weights = 0;
      for (std::size_t c = 0; c < n; ++c) max = std::max(max, logit(c));
      for (std::size_t c = 0; c < n; ++c) sum += std::exp(logit(c) - max);
      const long double log_sum = std::log(sum) + max;
      long double row = (1 - e) * w(y) * (log_sum - logit(y));
      for (std::size_t c = 0; c < n; ++c) {
        row += e / static_cast<long double>(n) * w(c) * (log_sum - logit(c));
        all_weights += w(c);
      }
      losses[r] = static_cast<double>(row);
      loss += static_cast<double>(row);
      weight += static_cast<double>(w(y));
      for (std::size_t c = 0; c < n; ++c) {
        const long double p = std::exp(logit(c) - log_sum);
        const long double sharp = (1 - e) * w(y) * (p - (c == y ? 1 : 0));
        const long double smooth = e / static_cast<long double>(n) * (all_weights * p - w(c));
        dlogits[r * n + c] = static_cast<double>(sharp + smooth);
      }
    }
  }
};

template <class T, class X> struct outputs {
  dp::tensor<T, dp::extents<2>, on_cpu> sums{dp::extents<2>{}};
  dp::tensor<T, dp::dextents<1>, on_cpu> losses;
  dp::tensor<T, dp::dextents<2>, on_cpu> dlogits;
  explicit outputs(const X& x)
      : losses(dp::dextents<1>{x.extent(0)}), dlogits(dp::dextents<2>{x.extent(0), x.extent(1)}) {}
};

template <class T, class X, class Labels>
void check(const X& x, const Labels& labels, const dp::cross_entropy_options<T>& options = {}) {
  outputs<T, X> out(x);
  dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, labels, options);
  const reference<T> expected(x, labels, options);
  const auto near = [](double value) { return Catch::Approx(value).epsilon(tolerance<T>).margin(tolerance<T>); };
  CHECK(static_cast<double>(out.sums(0)) == near(expected.loss));
  CHECK(static_cast<double>(out.sums(1)) == near(expected.weight));
  for (std::size_t r = 0; r < x.extent(0); ++r) CHECK(static_cast<double>(out.losses(r)) == near(expected.losses[r]));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(out.dlogits.data()[i]) - expected.dlogits[i]));
  CHECK(worst <= tolerance<T>);
  CHECK(static_cast<double>(dp::cross_entropy(x, labels, options, dp::reduction::sum)()) == near(expected.loss));
  CHECK(static_cast<double>(dp::cross_entropy(x, labels, options)()) == near(expected.loss / expected.weight));
}

template <class T> auto labels_for(std::size_t rows, std::size_t classes, unsigned seed) {
  return random_values<T>(dp::dextents<1>{rows}, seed, 0, static_cast<double>(classes) - 1);
}

}  // namespace

TEMPLATE_TEST_CASE("cross_entropy agrees with plain loops under every option", "[ops]", FLOATING_TYPES) {
  for (const std::size_t n : {1u, 2u, 3u, 8u, 10u, 17u, 200u}) {
    const auto x = random_values<TestType>(dp::dextents<2>{23, n}, static_cast<unsigned>(n), -4, 4);
    auto labels = labels_for<std::int64_t>(23, n, 2);
    const auto weights = random_values<TestType>(dp::dextents<1>{n}, 3, 0.1, 2);
    dp::cross_entropy_options<TestType> options;
    check<TestType>(x, labels);
    labels(3) = labels(22) = -100;
    check<TestType>(x, labels);
    options.label_smoothing = static_cast<TestType>(0.1);
    check<TestType>(x, labels, options);
    options.class_weights = weights.data();
    check<TestType>(x, labels, options);
    options.label_smoothing = 0;
    check<TestType>(x, labels, options);
    options.label_smoothing = 1;
    options.ignore_index = 0;  // one of the classes
    labels(3) = labels(22) = static_cast<std::int64_t>(n) - 1;
    if (n > 1) labels(4) = 1;
    if (n > 1) check<TestType>(x, labels, options);
  }
}

TEST_CASE("labels may be int64, int32 or uint8", "[ops]") {
  const auto x = random_values<float>(dp::extents<6, 4>{}, 1);
  const dp::tensor<std::int64_t, dp::extents<6>, on_cpu> wide{0, 1, 2, 3, 2, 1};
  const dp::tensor<std::int32_t, dp::extents<6>, on_cpu> medium{0, 1, 2, 3, 2, 1};
  const dp::tensor<std::uint8_t, dp::extents<6>, on_cpu> narrow{0, 1, 2, 3, 2, 1};
  const float loss = dp::cross_entropy(x, wide)();
  CHECK(dp::cross_entropy(x, medium)() == loss);
  CHECK(dp::cross_entropy(x, narrow)() == loss);
  check<float>(x, narrow, {.ignore_index = 2});
}

TEST_CASE("the gradient agrees with finite differences", "[ops]") {
  const auto x = random_values<double>(dp::extents<4, 5>{}, 2, -2, 2);
  const dp::tensor<std::int64_t, dp::extents<4>, on_cpu> labels{0, 4, -100, 2};
  const dp::tensor<double, dp::extents<5>, on_cpu> weights{0.5, 1, 2, 0.25, 3};
  const dp::cross_entropy_options<double> options{
      .ignore_index = -100, .label_smoothing = 0.2, .class_weights = weights.data()};
  outputs<double, decltype(x)> out(x);
  dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, labels, options);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step = 1e-5;
    auto above = x.clone(), below = x.clone();
    above.data()[i] += step;
    below.data()[i] -= step;
    const double difference = dp::cross_entropy(above, labels, options, dp::reduction::sum)() -
                              dp::cross_entropy(below, labels, options, dp::reduction::sum)();
    CHECK(out.dlogits.data()[i] == Catch::Approx(difference / (2 * step)).margin(1e-8));
  }
}

TEST_CASE("a confident row keeps the digits of a small loss and gradient", "[ops]") {
  const dp::tensor<float, dp::extents<1, 3>, on_cpu> x{{20, 0, 0}};
  const dp::tensor<std::int64_t, dp::extents<1>, on_cpu> label{0};
  outputs<float, decltype(x)> out(x);
  dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, label);
  const double others = 2 * std::exp(-20.0);
  CHECK(static_cast<double>(out.sums(0)) == Catch::Approx(std::log1p(others)).epsilon(1e-5));
  CHECK(static_cast<double>(out.dlogits(0, 0)) == Catch::Approx(-others / (1 + others)).epsilon(1e-5));
}

TEST_CASE("rows of infinities and NaN", "[ops]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const dp::tensor<float, dp::extents<5, 3>, on_cpu> x{
      {0, nan, 1}, {0, inf, 1}, {-inf, -inf, -inf}, {0, -inf, 0}, {nan, inf, -inf}};
  const dp::tensor<std::int64_t, dp::extents<5>, on_cpu> labels{0, 1, 2, 1, -100};
  outputs<float, decltype(x)> out(x);
  dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, labels);
  CHECK(std::isnan(out.losses(0)));
  CHECK(std::isnan(out.losses(1)));
  CHECK(std::isnan(out.losses(2)));
  CHECK(out.losses(3) == inf);
  CHECK(out.dlogits(3, 0) == 0.5f);
  CHECK(out.dlogits(3, 1) == -1);
  CHECK(out.losses(4) == 0);  // ignored with any logits
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(std::isnan(out.dlogits(0, c)));
    CHECK(std::isnan(out.dlogits(1, c)));
    CHECK(std::isnan(out.dlogits(2, c)));
    CHECK(out.dlogits(4, c) == 0);
  }
  const dp::tensor<std::int64_t, dp::extents<5>, on_cpu> without{-100, -100, -100, 0, -100};
  CHECK(dp::cross_entropy(x, without)() == Catch::Approx(std::log(2.0)));
}

TEST_CASE("label smoothing of a target far below the largest logit loses nothing", "[ops]") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const dp::tensor<float, dp::extents<2, 3>, on_cpu> x{{0, 1, -1e7f}, {2, -1e4f, 1}};
  const dp::tensor<std::int64_t, dp::extents<2>, on_cpu> labels{2, 1};
  const std::vector<float> weights{1, 2, 0};
  check<float>(x, labels, {.label_smoothing = 0.3f, .class_weights = weights.data()});
  const dp::tensor<float, dp::extents<1, 3>, on_cpu> impossible{{0, 1, -inf}};
  const dp::tensor<std::int64_t, dp::extents<1>, on_cpu> label{2};
  CHECK(dp::cross_entropy(impossible, label, {.label_smoothing = 0.3f})() == inf);  // as in PyTorch
}

TEST_CASE("without valid labels the mean is NaN, and the sum and the gradient are 0", "[ops]") {
  const auto x = random_values<float>(dp::extents<3, 4>{}, 3);
  const dp::tensor<std::int64_t, dp::extents<3>, on_cpu> labels{-100, -100, -100};
  outputs<float, decltype(x)> out(x);
  dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, labels);
  CHECK(out.sums(0) == 0);
  CHECK(out.sums(1) == 0);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(out.dlogits.data()[i] == 0);
  CHECK(std::isnan(dp::cross_entropy(x, labels)()));
  CHECK(dp::cross_entropy(x, labels, {}, dp::reduction::sum)() == 0);
  const auto none = x.slice(0, 0);
  const auto no_labels = labels.slice(0, 0);
  CHECK(std::isnan(dp::cross_entropy(none, no_labels)()));
  CHECK(dp::cross_entropy(none, no_labels, {}, dp::reduction::sum)() == 0);
}

TEST_CASE("the gradient may overwrite the logits or be omitted", "[ops]") {
  auto x = random_values<float>(dp::extents<40, 10>{}, 4, -3, 3);
  const auto labels = labels_for<std::int64_t>(40, 10, 5);
  outputs<float, decltype(x)> apart(x), in_place(x), alone(x);
  for (const float smoothing : {0.0f, 0.1f}) {
    const dp::cross_entropy_options<float> options{.ignore_index = 7, .label_smoothing = smoothing};
    auto y = x.clone();
    dp::cross_entropy_into(apart.sums, apart.dlogits, apart.losses, y, labels, options);
    const dp::view<float, dp::extents<40, 10>, on_cpu> nothing(nullptr, x.extents());
    dp::cross_entropy_into(alone.sums, nothing.erased(), alone.losses, y.view().erased(), labels, options);
    dp::cross_entropy_into(in_place.sums, y, in_place.losses, y, labels, options);
    CHECK(std::memcmp(y.data(), apart.dlogits.data(), sizeof(float) * y.size()) == 0);
    CHECK(in_place.sums(0) == apart.sums(0));
    CHECK(alone.sums(0) == apart.sums(0));
    CHECK(alone.sums(1) == apart.sums(1));
  }
}

TEST_CASE("the loss of a label that is no class is NaN", "[ops]") {
  const auto x = random_values<float>(dp::extents<3, 4>{}, 6);
  const dp::tensor<std::int64_t, dp::extents<3>, on_cpu> large{0, 4, 9};
  CHECK(std::isnan(dp::cross_entropy(x, large)()));
  CHECK(std::isnan(dp::cross_entropy(x, large, {}, dp::reduction::sum)()));
  const dp::tensor<std::int32_t, dp::extents<3>, on_cpu> negative{0, 1, -1};
  CHECK(std::isnan(dp::cross_entropy(x, negative)()));
  CHECK_FALSE(std::isnan(dp::cross_entropy(x, negative, {.ignore_index = -1})()));
}

TEST_CASE("options and extents out of range throw", "[ops]") {
  const auto x = random_values<float>(dp::extents<3, 4>{}, 7);
  const dp::tensor<std::int64_t, dp::extents<3>, on_cpu> labels{0, 1, 2};
  CHECK_THROWS_AS(dp::cross_entropy(x, labels, {.label_smoothing = 1.5f}), dp::argument_error);
  CHECK_THROWS_AS(dp::cross_entropy(x, labels, {.label_smoothing = -0.1f}), dp::argument_error);
  CHECK_THROWS_AS(dp::cross_entropy(x, labels, {.label_smoothing = std::nanf("")}), dp::argument_error);
  CHECK_THROWS_AS(dp::cross_entropy(x, labels, {}, dp::reduction::max), dp::argument_error);
  CHECK_THROWS_AS(dp::cross_entropy(x, labels.slice(0, 2)), dp::shape_error);
}

TEST_CASE("the bits of cross_entropy do not depend on the number of threads, and nothing is allocated",
          "[ops][threads]") {
  const auto x = random_values<float>(dp::dextents<2>{5000, 10}, 8, -4, 4);
  const auto labels = labels_for<std::uint8_t>(5000, 10, 9);
  const auto run = [&](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    outputs<float, decltype(x)> out(x);
    const auto before = dp::memory_statistics<dp::cpu>().allocations;
    dp::cross_entropy_into(out.sums, out.dlogits, out.losses, x, labels, {.label_smoothing = 0.1f});
    CHECK(dp::memory_statistics<dp::cpu>().allocations == before);
    return out;
  };
  const auto one = run(1);
  for (const int threads : {2, 3}) {
    const auto more = run(threads);
    CHECK(std::memcmp(more.sums.data(), one.sums.data(), 2 * sizeof(float)) == 0);
    CHECK(std::memcmp(more.dlogits.data(), one.dlogits.data(), x.size() * sizeof(float)) == 0);
  }
}

TEMPLATE_TEST_CASE("a row's loss and gradient do not depend on the rows beside it", "[ops][cross_entropy]", float,
                   double) {
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::size_t rows = 37;
  for (const std::size_t n : {1u, 2u, 7u, 8u, 10u, 17u, 32u, 33u}) {
    CAPTURE(n);
    auto x = random_values<T>(dp::dextents<2>{rows, n}, 5, -20, 20);
    dp::tensor<T, dp::dextents<2>, on_cpu> all(x.extents());
    dp::tensor<T, dp::dextents<1>, on_cpu> losses(dp::dextents<1>{rows}), loss(dp::dextents<1>{1});
    dp::tensor<std::int64_t, dp::dextents<1>, on_cpu> labels(dp::dextents<1>{rows});
    dp::tensor<T, dp::extents<2>, on_cpu> sums;
    for (std::size_t row = 0; row < rows; ++row) labels(row) = static_cast<std::int64_t>(row * 3 % n);
    labels(3) = -100;
    labels(4) = static_cast<std::int64_t>(n);
    labels(5) = -1;
    x(6, 0) = infinity;
    x(7, n - 1) = -infinity;
    x(8, n / 2) = nan;
    for (std::size_t c = 0; c < n; ++c) x(9, c) = -infinity;
    x(10, static_cast<std::size_t>(labels(10))) = T(300);
    dp::cross_entropy_into(sums, all, losses, x, labels);
    for (std::size_t row = 0; row < rows; ++row) {
      CAPTURE(row);
      dp::tensor<T, dp::dextents<2>, on_cpu> one(dp::dextents<2>{1, n});
      dp::cross_entropy_into(sums, one, loss, x.slice(dp::axis<0>{}, row, row + 1),
                             labels.slice(dp::axis<0>{}, row, row + 1));
      CHECK((loss(0) == losses(row) || (loss(0) != loss(0) && losses(row) != losses(row))));
      for (std::size_t c = 0; c < n; ++c)
        CHECK((one(0, c) == all(row, c) || (one(0, c) != one(0, c) && all(row, c) != all(row, c))));
    }
    CHECK(losses(3) == 0);
    CHECK(losses(4) != losses(4));
    if (n > 1) CHECK(losses(8) != losses(8));
  }
}
