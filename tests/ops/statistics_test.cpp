// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/statistics.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "ops/statistics_device_case.hpp"
#include "support/element_types.hpp"
#include "support/fixture.hpp"

namespace dp = devplace;
using dp::axis;
using dp::test::agree;
using dp::test::agrees;
using dp::test::random_values;
using dp::test::read_fixture;
using support::values_of;
using on_cpu = dp::on<dp::cpu>;
using cube = dp::extents<3, 4, 5>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T> std::vector<T> expected(const std::string& name, std::size_t size) {
  std::vector<T> values;
  const auto file = read_fixture<T, dp::dextents<1>>(name);
  values.assign(file.data(), file.data() + file.size());
  REQUIRE(values.size() == size);
  return values;
}

/// Calls f(digits of the axes, axes...) for each set of axes, or for those that differ most: with elements around the
/// axis, with two axes apart, and all axes. The order of the loops does not depend on the element type.
template <bool All, class F> void for_each_set_of_axes(const F& f) {
  f("1", axis<1>{});
  f("02", axis<0>{}, axis<2>{});
  f("012", axis<0>{}, axis<1>{}, axis<2>{});
  if constexpr (All) {
    f("0", axis<0>{});
    f("2", axis<2>{});
    f("01", axis<0>{}, axis<1>{});
    f("12", axis<1>{}, axis<2>{});
  }
}

}  // namespace

TEMPLATE_TEST_CASE("statistics agree with NumPy along all axes", "[ops]", FLOATING_TYPES) {
  const std::string type = sizeof(TestType) == 4 ? "/f32/" : "/f64/";
  for (const std::string name : {"normal", "large_mean", "large", "special"}) {
    const std::string folder = "statistics/" + name + type, counts = "statistics/" + name + "/";
    const auto flat = read_fixture<TestType, dp::dextents<1>>(folder + "x");
    const auto x = flat.reshape(cube{});
    // Sums of large numbers of both signs lose as many digits as the numbers have before the point.
    const double scale = name == "large_mean" ? 4096 : name == "large" ? 300 : 1;
    for_each_set_of_axes<sizeof(TestType) == 4>([&](const std::string& digits, auto... axes) {
      INFO(folder << " axes " << digits);
      const auto check = [&](const std::string& of, const auto& result, double of_scale = 1) {
        INFO(of);
        CHECK(agree(values_of(result), expected<TestType>(folder + of + digits, result.size()), of_scale));
      };
      check("prod", dp::prod(x, axes...));
      check("norm1", dp::norm<1>(x, axes...));
      check("norm2", dp::norm(x, axes...));
      check("norm_infinite", dp::norm<dp::infinite_order>(x, axes...));
      check("var0", dp::variance<0>(x, axes...));
      check("var1", dp::variance(x, axes...));
      check("std0", dp::standard_deviation<0>(x, axes...));
      check("std1", dp::standard_deviation(x, axes...));
      check("logsumexp", dp::logsumexp(x, axes...), scale);
      const auto check_count = [&](const std::string& of, const auto& result) {
        INFO(of);
        const std::vector<std::int64_t> wanted = expected<std::int64_t>(counts + of + digits, result.size());
        const auto got = values_of(result);
        CHECK(std::vector<std::int64_t>(got.begin(), got.end()) == wanted);
      };
      check_count("any", dp::any(x, axes...));
      check_count("all", dp::all(x, axes...));
      check_count("count_nonzero", dp::count_nonzero(x, axes...));
    });
    const auto check_scan = [&](const std::string& of, const auto& result, double of_scale = 1) {
      INFO(folder << of);
      CHECK(agree(values_of(result), expected<TestType>(folder + of, result.size()), of_scale));
    };
    check_scan("cumsum0", dp::cumsum(x, axis<0>{}), scale);
    check_scan("cumsum1", dp::cumsum(x, axis<1>{}), scale);
    check_scan("cumsum2", dp::cumsum(x, -1), scale);
    check_scan("cumprod0", dp::cumprod(x, axis<0>{}));
    check_scan("cumprod1", dp::cumprod(x, 1));
    check_scan("cumprod2", dp::cumprod(x, axis<2>{}));
  }
}

TEMPLATE_TEST_CASE("reductions of integers agree with NumPy, and products wrap around", "[ops]", std::int32_t,
                   std::int64_t) {
  const std::string folder = sizeof(TestType) == 4 ? "statistics/int32/" : "statistics/int64/";
  const auto flat = read_fixture<TestType, dp::dextents<1>>(folder + "x");
  const auto x = flat.reshape(cube{});
  const auto check = [&](const std::string& of, const auto& result) {
    INFO(folder << of);
    const auto got = values_of(result);
    CHECK(std::vector<std::int64_t>(got.begin(), got.end()) == expected<std::int64_t>(folder + of, got.size()));
  };
  for_each_set_of_axes<sizeof(TestType) == 8>([&](const std::string& digits, auto... axes) {
    check("prod" + digits, dp::prod(x, axes...));
    check("any" + digits, dp::any(x, axes...));
    check("all" + digits, dp::all(x, axes...));
    check("count_nonzero" + digits, dp::count_nonzero(x, axes...));
  });
  check("cumsum0", dp::cumsum(x, axis<0>{}));
  check("cumsum1", dp::cumsum(x, axis<1>{}));
  check("cumsum2", dp::cumsum(x, axis<2>{}));
  check("cumprod0", dp::cumprod(x, axis<0>{}));
  check("cumprod1", dp::cumprod(x, axis<1>{}));
  check("cumprod2", dp::cumprod(x, axis<2>{}));
}

TEST_CASE("results have the types of the operand, or int64 and uint8", "[ops]") {
  const dp::tensor<float, dp::extents<2, 3>, on_cpu> x{{1, 2, 3}, {4, 0, -6}};
  static_assert(std::is_same_v<decltype(dp::variance(x, axis<0>{})), dp::tensor<float, dp::extents<3>, on_cpu>>);
  static_assert(std::is_same_v<decltype(dp::any(x, axis<1>{})), dp::tensor<std::uint8_t, dp::extents<2>, on_cpu>>);
  static_assert(std::is_same_v<decltype(dp::count_nonzero(x)), dp::tensor<std::int64_t, dp::extents<>, on_cpu>>);
  static_assert(std::is_same_v<decltype(dp::prod(x > 1, 0)), dp::tensor<std::int64_t, dp::dextents<1>, on_cpu>>);
  CHECK(values_of(dp::norm<1>(x, axis<1>{})) == std::vector<float>{6, 10});
  CHECK(values_of(dp::count_nonzero(x > 1, axis<0>{})) == std::vector<std::int64_t>{1, 1, 1});
  CHECK(dp::norm(3.0F * dp::abs(x) - x)() == dp::norm(dp::tensor(3.0F * dp::abs(x) - x))());
  CHECK(dp::all(x == x)() == 1);
}

TEST_CASE("without elements, reductions give their neutral elements", "[ops]") {
  const dp::tensor<float, dp::extents<dp::dyn, 2>, on_cpu> x(dp::extents<dp::dyn, 2>{0});
  CHECK(values_of(dp::prod(x, axis<0>{})) == std::vector<float>{1, 1});
  CHECK(values_of(dp::any(x, axis<0>{})) == std::vector<std::uint8_t>{0, 0});
  CHECK(values_of(dp::all(x, axis<0>{})) == std::vector<std::uint8_t>{1, 1});
  CHECK(dp::count_nonzero(x)() == 0);
  CHECK(dp::norm(x)() == 0);
  CHECK(dp::norm<dp::infinite_order>(x)() == 0);
  CHECK(std::isnan(dp::variance<0>(x)()));
  CHECK(dp::logsumexp(x)() == -static_cast<float>(infinity));
  CHECK(dp::logsumexp(x, axis<1>{}).size() == 0);
  CHECK(dp::cumsum(x, axis<0>{}).size() == 0);
  CHECK(dp::cumprod(x, axis<1>{}).size() == 0);
  const dp::tensor<double, dp::extents<1>, on_cpu> one{3};
  CHECK(std::isnan(dp::variance(one)()));
  CHECK(dp::variance<0>(one)() == 0);
}

TEST_CASE("norms and variances near the limits of float", "[ops]") {
  const float large = std::numeric_limits<float>::max() / 4, tiny = std::numeric_limits<float>::denorm_min();
  const dp::tensor<float, dp::extents<2, 4>, on_cpu> x{{large, large, -large, large}, {tiny, tiny, -tiny, tiny}};
  const auto of_rows = dp::norm(x, axis<1>{});
  CHECK(of_rows(0) == 2 * large);
  CHECK(of_rows(1) == 2 * tiny);
  CHECK(agrees(static_cast<double>(dp::standard_deviation<0>(x, axis<1>{})(0)),
               static_cast<double>(large) * std::sqrt(0.75), 1e-6));
  // Moments in one pass would lose all digits of this variance.
  dp::tensor<double, dp::extents<1000>, on_cpu> far(dp::extents<1000>{});
  for (std::size_t i = 0; i != 1000; ++i) far(i) = 1e12 + static_cast<double>(i % 2);
  CHECK(agrees(dp::variance<0>(far)(), 0.25, 1e-12));
  const dp::tensor<float, dp::extents<2>, on_cpu> largest{3e38F, 3e38F};
  CHECK(agrees(static_cast<double>(dp::logsumexp(largest)()), 3e38, 1e-6));
  const dp::tensor<double, dp::extents<3>, on_cpu> with_nan{-infinity, not_a_number, infinity};
  CHECK(std::isnan(dp::logsumexp(with_nan)()));
  CHECK(std::isnan(dp::norm<dp::infinite_order>(with_nan)()));
  CHECK(dp::all(with_nan)() == 1);
}

namespace {

/// The reductions of n numbers in plain loops.
struct plain_statistics {
  double product = 1, squares = 0, mean = 0, deviations = 0, largest = -infinity, exponentials = 0;
  std::int64_t nonzero = 0;

  explicit plain_statistics(const std::vector<double>& x) {
    for (const double value : x) {
      product *= value, squares += value * value, mean += value / static_cast<double>(x.size());
      largest = std::fmax(largest, value), nonzero += value != 0;
    }
    for (const double value : x)
      deviations += (value - mean) * (value - mean), exponentials += std::exp(value - largest);
  }
};

template <class X, class... Axes>
void check_plain(const X& x, const std::array<bool, 3>& reduced, const std::string& digits, Axes... axes) {
  INFO("axes " << digits);
  const std::array<std::size_t, 3> sizes{x.extent(0), x.extent(1), x.extent(2)};
  std::vector<std::vector<double>> groups(dp::sum(x, axes...).size());
  for (std::size_t i = 0; i != sizes[0]; ++i)
    for (std::size_t j = 0; j != sizes[1]; ++j)
      for (std::size_t k = 0; k != sizes[2]; ++k) {
        const std::array<std::size_t, 3> at{i, j, k};
        std::size_t result = 0;
        for (std::size_t a = 0; a != 3; ++a)
          if (!reduced[a]) result = result * sizes[a] + at[a];
        groups[result].push_back(static_cast<double>(x(i, j, k)));
      }
  const auto products = values_of(dp::prod(x, axes...)), norms = values_of(dp::norm(x, axes...)),
             variances = values_of(dp::variance(x, axes...)), logs = values_of(dp::logsumexp(x, axes...));
  const auto counts = values_of(dp::count_nonzero(x, axes...));
  for (std::size_t i = 0; i != groups.size(); ++i) {
    const plain_statistics plain(groups[i]);
    const double tolerance = sizeof(products[0]) == 4 ? 1e-6 : 1e-12;
    CHECK(agrees(static_cast<double>(products[i]), plain.product, tolerance));
    CHECK(agrees(static_cast<double>(norms[i]), std::sqrt(plain.squares), tolerance));
    CHECK(agrees(static_cast<double>(variances[i]), plain.deviations / (static_cast<double>(groups[i].size()) - 1),
                 tolerance));
    CHECK(agrees(static_cast<double>(logs[i]), plain.largest + std::log(plain.exponentials), tolerance));
    CHECK(counts[i] == plain.nonzero);
  }
}

template <bool All, class X> void check_plain_along(const X& x) {
  for_each_set_of_axes<All>([&](const std::string& digits, auto... axes) {
    std::array<bool, 3> reduced{};
    for (const char digit : digits) reduced[static_cast<std::size_t>(digit - '0')] = true;
    check_plain(x, reduced, digits, axes...);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("statistics agree with plain loops for short and long axes and strided views", "[ops]",
                   FLOATING_TYPES) {
  constexpr bool all = sizeof(TestType) == 4;
  check_plain_along<all>(random_values<TestType>(dp::dextents<3>(2, 15, 3), 1));
  check_plain_along<all>(random_values<TestType>(dp::dextents<3>(3, 16, 70), 2));
  check_plain_along<all>(random_values<TestType>(dp::dextents<3>(5, 2, 300), 3));
  const auto x = random_values<TestType>(dp::dextents<3>(6, 20, 9), 4);
  check_plain_along<false>(x.slice(axis<0>{}, 1, 6, 2).slice(axis<1>{}, 0, 20, 3));
  check_plain_along<false>(x.slice(axis<2>{}, 0, 9, 2));
}

TEST_CASE("cumulative sums and products along axes equal those of each line", "[ops]") {
  const auto check = [](const auto& x) {
    const auto e = x.extents();
    const auto sums = dp::cumsum(x, axis<1>{});
    const auto products = dp::cumprod(x, axis<1>{});
    for (std::size_t i = 0; i != e.extent(0); ++i)
      for (std::size_t k = 0; k != e.extent(2); ++k) {
        using value = typename std::remove_cvref_t<decltype(x)>::value_type;
        dp::tensor<value, dp::dextents<1>, on_cpu> line(dp::dextents<1>{e.extent(1)});
        for (std::size_t j = 0; j != e.extent(1); ++j) line(j) = x(i, j, k);
        const auto of_line = dp::cumsum(line);
        const auto product_of_line = dp::cumprod(line);
        bool equal = true;  // in bits: the order of summation depends only on the length
        for (std::size_t j = 0; j != e.extent(1); ++j)
          equal = equal && sums(i, j, k) == of_line(j) && products(i, j, k) == product_of_line(j);
        CHECK(equal);
      }
  };
  check(random_values<float>(dp::dextents<3>(2, 31, 3), 1));
  check(random_values<double>(dp::dextents<3>(2, 33, 1), 2));
  check(random_values<float>(dp::dextents<3>(1, 3000, 5), 3));
  check(random_values<std::int32_t>(dp::dextents<3>(3, 100, 4), 4, -3, 3));
  const auto x = random_values<float>(dp::extents<4, 70>{}, 5);
  auto in_place = random_values<float>(dp::extents<4, 70>{}, 5);
  dp::cumsum_into(in_place, in_place, axis<0>{});
  CHECK(values_of(in_place) == values_of(dp::cumsum(x, 0)));
  CHECK_THROWS_AS(dp::cumsum(x, 2), dp::argument_error);
  CHECK_THROWS_AS(dp::cumprod(x, -3), dp::argument_error);
}

TEST_CASE("the bits of statistics do not depend on the number of threads", "[ops][threads]") {
  const auto x = random_values<float>(dp::dextents<2>(3, 120'001), 1);
  const auto run = [&](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    std::vector<float> results;
    const auto add = [&](const auto& result) {
      for (const auto value : values_of(result)) results.push_back(static_cast<float>(value));
    };
    add(dp::prod(x + 1.5F, axis<1>{}));
    add(dp::norm(x));
    add(dp::norm<1>(x, axis<1>{}));
    add(dp::variance(x));
    add(dp::variance(x, axis<0>{}));
    add(dp::logsumexp(x, axis<1>{}));
    add(dp::logsumexp(x));
    add(dp::cumsum(x, axis<1>{}));
    add(dp::cumprod(x, axis<1>{}));
    return results;
  };
  const std::vector<float> one = run(1);
  for (const int threads : {2, 3}) {
    const std::vector<float> more = run(threads);
    REQUIRE(more.size() == one.size());
    CHECK(std::memcmp(more.data(), one.data(), one.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("statistics of 16-bit elements", "[ops]") {
  dp::test::check_short_statistics<dp::cpu, dp::bf16>();
  dp::test::check_short_statistics<dp::cpu, dp::half>();
}
