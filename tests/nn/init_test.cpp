// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <devplace/nn/draw_elements.hpp>
#include <devplace/nn/init.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace dp = devplace;
namespace init = dp::nn::init;
using Catch::Approx;

namespace {

template <class T>
std::vector<T> drawn(const dp::nn::initialization& how, std::size_t n, std::uint64_t seed = 1,
                     std::string_view path = "0.weight") {
  std::vector<T> values(n, T{-99});
  dp::nn::draw_elements<dp::backend::cpu>(0, values.data(), n, how, seed, path);
  return values;
}

/// Mean, variance and fourth moment over the squared variance (9/5 for a uniform, 3 for a normal distribution).
struct moments {
  double mean = 0, variance = 0, kurtosis = 0;
};

template <class T> moments moments_of(const std::vector<T>& values) {
  moments m;
  const double n = static_cast<double>(values.size());
  for (const T x : values) m.mean += static_cast<double>(x) / n;
  for (const T x : values) {
    const double square = std::pow(static_cast<double>(x) - m.mean, 2);
    m.variance += square / n;
    m.kurtosis += square * square / n;
  }
  m.kurtosis /= m.variance * m.variance;
  return m;
}

}  // namespace

TEST_CASE("initial values have the bounds and standard deviations of torch.nn.init", "[nn]") {
  CHECK(init::zeros().center == 0);
  CHECK(init::ones().center == 1);
  CHECK(init::constant(2.5).center == 2.5);
  CHECK(init::uniform(1, 3).center == 2);
  CHECK(init::uniform(1, 3).spread == 1);
  CHECK(init::normal(1, 3).spread == 3);
  CHECK(init::fan_in_uniform(784).spread == Approx(1.0 / 28).epsilon(1e-15));
  CHECK(init::kaiming_uniform(784, std::sqrt(5.0)).spread == Approx(1.0 / 28).epsilon(1e-15));
  CHECK(init::kaiming_uniform(50).spread == Approx(std::sqrt(6.0 / 50)).epsilon(1e-15));
  CHECK(init::kaiming_normal(50).spread == Approx(0.2).epsilon(1e-15));
  CHECK(init::xavier_uniform(20, 30).spread == Approx(std::sqrt(6.0 / 50)).epsilon(1e-15));
  CHECK(init::xavier_normal(20, 30, 2).spread == Approx(0.4).epsilon(1e-15));
}

TEST_CASE("constant square roots", "[nn]") {
  static_assert(dp::nn::detail::constant_sqrt(0) == 0);
  for (const double x : {1e-300, 1e-9, 0.3, 1.0, 2.0, 5.0, 784.0, 1e20})
    CHECK(dp::nn::detail::constant_sqrt(x) == Approx(std::sqrt(x)).epsilon(3e-16));
}

TEMPLATE_TEST_CASE("draws have the requested distribution", "[nn]", FLOATING_TYPES) {
  constexpr std::size_t n = 100000;
  CHECK(drawn<TestType>(init::constant(0.5), 100) == std::vector<TestType>(100, TestType{0.5}));

  const auto uniform = drawn<TestType>(init::fan_in_uniform(16), n);
  const moments of_uniform = moments_of(uniform);
  CHECK(of_uniform.mean == Approx(0).margin(0.002));
  CHECK(of_uniform.variance == Approx(0.0625 / 3).epsilon(0.02));
  CHECK(of_uniform.kurtosis == Approx(1.8).epsilon(0.02));
  CHECK(*std::min_element(uniform.begin(), uniform.end()) >= TestType{-0.25});
  CHECK(*std::max_element(uniform.begin(), uniform.end()) <= TestType{0.25});

  const moments of_normal = moments_of(drawn<TestType>(init::normal(2, 0.5), n));
  CHECK(of_normal.mean == Approx(2).margin(0.01));
  CHECK(of_normal.variance == Approx(0.25).epsilon(0.02));
  CHECK(of_normal.kurtosis == Approx(3).epsilon(0.04));
}

TEST_CASE("initial values are a function of seed, path and index", "[nn]") {
  const auto how = init::normal(0, 1);
  const auto values = drawn<double>(how, 10000);
  CHECK(drawn<double>(how, 10000) == values);
  CHECK(drawn<double>(how, 10000, 2) != values);
  CHECK(drawn<double>(how, 10000, 1, "1.weight") != values);

  const auto fewer = drawn<double>(how, 100);
  CHECK(std::equal(fewer.begin(), fewer.end(), values.begin()));

  const auto rounded = drawn<float>(how, 10000);
  CHECK(std::equal(values.begin(), values.end(), rounded.begin(),
                   [](double exact, float value) { return static_cast<float>(exact) == value; }));

  for (const int members : {1, 2, 3, 7}) {
    dp::builtin_thread_team team(members);
    const dp::thread_team_scope scope(team);
    CHECK(drawn<double>(how, 10000) == values);
  }
}

TEST_CASE("ranges of initial values are bitwise equal to single values, as devices compute them", "[nn]") {
  dp::nn::initialization with_zeros = init::normal(0.5, 0.25);
  with_zeros.first_zero = 30;
  with_zeros.zeros = 9;
  for (const dp::nn::initialization& how : {init::constant(3), init::uniform(0.1), with_zeros}) {
    std::vector<float> in_ranges(100), one_by_one(100);
    const dp::nn::detail::initial_values<float> ranges{in_ranges.data(), how, 1, 2},
        single{one_by_one.data(), how, 1, 2};
    for (std::size_t begin = 0, length = 1; begin < 100; begin += length, length = length * 2 + 1)
      ranges.range(begin, std::min<std::size_t>(100, begin + length));
    for (std::size_t i = 0; i < 100; ++i) single(i);
    CHECK(in_ranges == one_by_one);
  }
}
