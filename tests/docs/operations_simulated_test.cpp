// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The right columns of docs/operations.md.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/core.hpp>
#include <devplace/ops/permutation.hpp>
#include <devplace/sorting.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::axis;
using dp::cpu;
using support::values_of;

namespace {

template <class X> std::vector<double> numbers_of(const X& x) {
  const auto values = values_of(x);
  return {values.begin(), values.end()};
}
using numbers = std::vector<double>;

const dp::tensor<float, dp::extents<2, 3>, cpu> a{{1, 2, 3}, {4, 5, 6}};
const dp::tensor<float, dp::extents<2, 3>, cpu> b{{0, 1, 0}, {1, 0, 1}};

struct cube {
  DEVPLACE_HD float operator()(float x) const { return x * x * x; }
};
struct set_element {
  float* to;
  DEVPLACE_HD void operator()(std::size_t i, std::size_t j) const { to[3 * i + j] = static_cast<float>(10 * i + j); }
};
struct element {
  const float* from;
  DEVPLACE_HD float operator()(std::size_t i, std::size_t j) const { return from[3 * i + j]; }
};

}  // namespace

TEST_CASE("docs/operations.md: your own functions", "[docs]") {
  dp::tensor cubes = dp::map(cube{}, a);
  auto x = dp::zeros<float, cpu>(2, 3);
  float* const to = x.data();
  dp::parallel_for(cpu{}, a.extents(), set_element{to});
  const float* const from = a.data();
  auto total = dp::parallel_reduce(cpu{}, a.extents(), element{from});
  auto largest = dp::parallel_reduce<dp::reduction::max>(cpu{}, a.extents(), element{from});
  CHECK(numbers_of(cubes) == numbers{1, 8, 27, 64, 125, 216});
  CHECK(numbers_of(x) == numbers{0, 1, 2, 10, 11, 12});
  CHECK(dp::item(total) == 21);
  CHECK(dp::item(largest) == 6);
}

TEST_CASE("docs/operations.md: making tensors", "[docs]") {
  auto zeros = dp::zeros<float, cpu>(2, 3);
  auto ones = dp::ones<float, cpu>(2, 3);
  auto halves = dp::full<float, cpu>(dp::extents<2, 3>{}, 0.5f);
  auto like = dp::zeros_like(a);
  auto range = dp::arange<float, cpu>(0, 1, 0.25f);
  auto line = dp::linspace<float, cpu>(0, 1, 5);
  auto unit = dp::eye<float, cpu>(2);
  auto uniform = dp::uniform<float, cpu>(dp::extents<2, 3>{}, dp::seed{1});
  auto normal = dp::normal<float, cpu>(dp::extents<2, 3>{}, dp::seed{1});
  auto drawn = dp::categorical(a, dp::seed{1}, {.temperature = 0.8, .top_k = 2});
  auto order = dp::permutation(5, dp::seed{1});
  CHECK(numbers_of(zeros) == numbers(6));
  CHECK(numbers_of(like) == numbers(6));
  CHECK(numbers_of(ones) == numbers(6, 1));
  CHECK(numbers_of(halves) == numbers(6, 0.5));
  CHECK(numbers_of(range) == numbers{0, 0.25, 0.5, 0.75});
  CHECK(numbers_of(line) == numbers{0, 0.25, 0.5, 0.75, 1});
  CHECK(numbers_of(unit) == numbers{1, 0, 0, 1});
  CHECK((dp::item(dp::min(uniform)) >= 0 && dp::item(dp::max(uniform)) < 1));
  CHECK(normal.size() == 6);
  CHECK((drawn(0) >= 1 && drawn(1) >= 1));
  CHECK(numbers_of(dp::sort(order)) == numbers{0, 1, 2, 3, 4});
}

TEST_CASE("docs/operations.md: functions of elements", "[docs]") {
  dp::tensor c = dp::exp(a) + 2.0f * b - a / 4.0f;
  dp::tensor larger = a > b;
  dp::tensor larger_ones = dp::maximum(a, b);
  dp::tensor roots = dp::sqrt(dp::square(dp::abs(a)));
  dp::tensor same = dp::log(dp::exp(a));
  dp::tensor squares = dp::pow(a, 2.0f);
  dp::tensor squashed = dp::tanh(a) + dp::sigmoid(a) + dp::erf(a) + dp::relu(a);
  dp::tensor activated = dp::gelu(a) + dp::silu(a) + dp::softplus(a);
  dp::tensor doubles = dp::cast<double>(a);
  dp::tensor sines = dp::sin(a) + dp::cos(a) * dp::tan(a);
  dp::tensor angles = dp::asin(b) + dp::acos(b) + dp::atan(b);
  dp::tensor turned = dp::atan2(a, b);
  dp::tensor hyperbolic = dp::sinh(a) + dp::cosh(a);
  dp::tensor powers = dp::exp2(a) + dp::expm1(a);
  dp::tensor logs = dp::log2(a) + dp::log10(a) + dp::log1p(a);
  dp::tensor lengths = dp::hypot(a, b);
  dp::tensor whole = dp::floor(a) + dp::ceil(a) + dp::trunc(a);
  dp::tensor rounded = dp::round(a);
  dp::tensor signs = dp::sign(a);
  dp::tensor rest = dp::fmod(a, 2);
  dp::tensor modulus = dp::remainder(a, 2);
  dp::tensor clamped = dp::clamp(a, 0, 1);
  dp::tensor usable = dp::isfinite(a);
  dp::tensor both = dp::logical_and(a > 2, b != 0);
  dp::tensor either = dp::logical_or(a > 2, dp::logical_xor(a, b));
  dp::tensor none = dp::logical_not(a);
  dp::tensor mask = dp::where(a > 3, 1.0f, 0.0f);
  CHECK(c(0, 0) == Catch::Approx(std::exp(1.0F) - 0.25F));
  CHECK(numbers_of(larger) == numbers{1, 1, 1, 1, 1, 1});
  CHECK(numbers_of(larger_ones) == numbers_of(a));
  CHECK(numbers_of(roots) == numbers_of(a));
  CHECK(same(1, 2) == Catch::Approx(6));
  CHECK(numbers_of(squares) == numbers{1, 4, 9, 16, 25, 36});
  CHECK(squashed(0, 0) == Catch::Approx(std::tanh(1.0) + 1 / (1 + std::exp(-1.0)) + std::erf(1.0) + 1));
  CHECK(activated.size() == 6);
  CHECK(numbers_of(doubles) == numbers_of(a));
  CHECK(sines(0, 1) == Catch::Approx(2 * std::sin(2.0)));
  CHECK(angles(0, 1) == Catch::Approx(std::asin(1.0) + std::atan(1.0)));
  CHECK(turned(0, 1) == Catch::Approx(std::atan2(2.0, 1.0)));
  CHECK(hyperbolic(0, 0) == Catch::Approx(std::exp(1.0)));
  CHECK(powers(0, 2) == Catch::Approx(8 + std::expm1(3.0)));
  CHECK(logs(0, 1) == Catch::Approx(1 + std::log10(2.0) + std::log1p(2.0)));
  CHECK(lengths(0, 1) == Catch::Approx(std::hypot(2.0, 1.0)));
  CHECK(numbers_of(whole) == numbers{3, 6, 9, 12, 15, 18});
  CHECK(numbers_of(rounded) == numbers_of(a));
  CHECK(numbers_of(signs) == numbers(6, 1));
  CHECK(numbers_of(rest) == numbers{1, 0, 1, 0, 1, 0});
  CHECK(numbers_of(modulus) == numbers_of(rest));
  CHECK(numbers_of(clamped) == numbers(6, 1));
  CHECK(numbers_of(usable) == numbers(6, 1));
  CHECK(numbers_of(both) == numbers{0, 0, 0, 1, 0, 1});
  CHECK(numbers_of(either) == numbers{1, 0, 1, 1, 1, 1});
  CHECK(numbers_of(none) == numbers(6));
  CHECK(numbers_of(mask) == numbers{0, 0, 0, 1, 1, 1});
}

TEST_CASE("docs/operations.md: joining and rearranging", "[docs]") {
  auto rows = dp::concat(axis<0>{}, a, b);
  auto layers = dp::stack(axis<0>{}, a, b);
  auto [head, tail] = dp::split_at(a, axis<1>{}, 1);
  auto backwards = dp::reversed(a, axis<1>{});
  auto mirrored = dp::flip(a, axis<1>{});
  auto shifted = dp::roll(a, axis<1>{}, 1);
  auto doubled = dp::repeat(a, axis<1>{}, 2);
  auto tiled = dp::tile(a, axis<1>{}, 2);
  auto bordered = dp::pad(a, axis<1>{}, {.before = 1, .after = 1});
  auto edges = dp::pad(a, axis<1>{}, {.before = 1, .mode = dp::padding_mode::edge});
  auto reflected = dp::pad(a, axis<1>{}, {.after = 2, .mode = dp::padding_mode::reflect});
  CHECK(numbers_of(rows) == numbers{1, 2, 3, 4, 5, 6, 0, 1, 0, 1, 0, 1});
  CHECK(layers.extents() == dp::extents<2, 2, 3>{});
  CHECK((head.extent(1) == 1 && tail(1, 1) == 6));
  CHECK(numbers_of(dp::to<cpu>(backwards)) == numbers{3, 2, 1, 6, 5, 4});
  CHECK(numbers_of(mirrored) == numbers{3, 2, 1, 6, 5, 4});
  CHECK(numbers_of(shifted) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(numbers_of(doubled) == numbers{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  CHECK(numbers_of(tiled) == numbers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(numbers_of(bordered) == numbers{0, 1, 2, 3, 0, 0, 4, 5, 6, 0});
  CHECK(numbers_of(edges) == numbers{1, 1, 2, 3, 4, 4, 5, 6});
  CHECK(numbers_of(reflected) == numbers{1, 2, 3, 2, 1, 4, 5, 6, 5, 4});
}

TEST_CASE("docs/operations.md: choosing elements", "[docs]") {
  const dp::tensor<std::int64_t, dp::extents<3>, cpu> indices{1, 0, 1};
  const dp::tensor<std::int64_t, dp::extents<2, 1>, cpu> columns{{2}, {0}};
  auto chosen = dp::take_rows(a, indices);
  auto picked = dp::take_along(a, columns, axis<1>{});
  auto sums = dp::zeros<float, cpu>(2, 3);
  dp::add_along(sums, columns, picked, axis<1>{});
  auto sorted = dp::sort(a, dp::sort_order::descending);
  auto sorted_columns = dp::sort(a, axis<0>{});
  auto positions = dp::argsort(a);
  const auto [values, where] = dp::top_k(a, 2);
  CHECK(numbers_of(chosen) == numbers{4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(numbers_of(picked) == numbers{3, 4});
  CHECK(numbers_of(sums) == numbers{0, 0, 3, 4, 0, 0});
  CHECK(numbers_of(sorted) == numbers{3, 2, 1, 6, 5, 4});
  CHECK(numbers_of(sorted_columns) == numbers{1, 2, 3, 4, 5, 6});
  CHECK(numbers_of(positions) == numbers{0, 1, 2, 0, 1, 2});
  CHECK(numbers_of(values) == numbers{3, 2, 6, 5});
  CHECK(numbers_of(where) == numbers{2, 1, 2, 1});
}

TEST_CASE("docs/operations.md: reductions and cumulative sums", "[docs]") {
  auto total = dp::sum(a);
  auto row_sums = dp::sum(a, axis<1>{});
  auto means = dp::mean(a, axis<0>{});
  auto largest = dp::max(a);
  auto classes = dp::argmax(a, axis<1>{});
  auto row_products = dp::prod(a, axis<1>{});
  auto some = dp::any(a > 4);
  auto every = dp::all(a > 4);
  auto count = dp::count_nonzero(b);
  auto length = dp::norm(a);
  auto lengths = dp::norm<1>(a, axis<1>{});
  auto most = dp::norm<dp::infinite_order>(a);
  auto variances = dp::variance(a, axis<0>{});
  auto deviation = dp::standard_deviation<0>(a);
  auto logs = dp::logsumexp(a, axis<1>{});
  auto probabilities = dp::softmax(a);
  auto running = dp::cumsum(a, axis<1>{});
  auto running_products = dp::cumprod(a, axis<0>{});
  CHECK((dp::item(total) == 21 && dp::item(dp::sum(a, axis<0>{}, axis<1>{})) == 21));
  CHECK(numbers_of(row_sums) == numbers{6, 15});
  CHECK(numbers_of(means) == numbers{2.5, 3.5, 4.5});
  CHECK((dp::item(largest) == 6 && dp::item(dp::min(a)) == 1));
  dp::tensor<float, dp::extents<3>, decltype(a)::placement_type> y;
  dp::sum_into(y, a, axis<0>{});
  CHECK(numbers_of(y) == numbers{5, 7, 9});
  dp::sum_into(y, a, {.accumulate = true}, axis<0>{});
  CHECK(numbers_of(y) == numbers{10, 14, 18});
  dp::mean_into(y, a, axis<0>{});
  CHECK(numbers_of(y) == numbers{2.5, 3.5, 4.5});
  dp::max_into(y, a, axis<0>{});
  CHECK(numbers_of(y) == numbers{4, 5, 6});
  dp::min_into(y, a, axis<0>{});
  CHECK(numbers_of(y) == numbers{1, 2, 3});
  CHECK((numbers_of(classes) == numbers{2, 2} && dp::item(dp::argmin(a)) == 0));
  CHECK(numbers_of(row_products) == numbers{6, 120});
  CHECK((dp::item(some) == 1 && dp::item(every) == 0));
  CHECK(dp::item(count) == 3);
  CHECK(dp::item(length) == Catch::Approx(std::sqrt(91.0)));
  CHECK(numbers_of(lengths) == numbers{6, 15});
  CHECK(dp::item(most) == 6);
  CHECK(numbers_of(variances) == numbers{4.5, 4.5, 4.5});
  CHECK(dp::item(deviation) == Catch::Approx(std::sqrt(35.0 / 12)));
  CHECK(logs(0) == Catch::Approx(3.40760596));
  CHECK(probabilities(1, 2) == Catch::Approx(1 / (1 + std::exp(-1.0) + std::exp(-2.0))));
  CHECK(dp::log_softmax(a)(1, 2) == Catch::Approx(std::log(probabilities(1, 2))));
  CHECK(numbers_of(running) == numbers{1, 3, 6, 4, 9, 15});
  CHECK(numbers_of(running_products) == numbers{1, 2, 3, 4, 10, 18});
}

TEST_CASE("docs/operations.md: matrices", "[docs]") {
  auto product = dp::matmul(a, dp::transposed(b));
  auto products = dp::outer(a[0], b[0]);
  auto inner = dp::sum(a * b);
  auto lower = dp::tril(a);
  auto upper = dp::triu(a, 1);
  auto diagonal = dp::diag(a);
  auto turned = dp::transposed(a);
  CHECK(numbers_of(product) == numbers{2, 4, 5, 10});
  CHECK(numbers_of(products) == numbers{0, 1, 0, 0, 2, 0, 0, 3, 0});
  CHECK(dp::item(inner) == 12);
  CHECK(numbers_of(lower) == numbers{1, 0, 0, 4, 5, 0});
  CHECK(numbers_of(upper) == numbers{0, 2, 3, 0, 0, 6});
  CHECK(numbers_of(diagonal) == numbers{1, 5});
  CHECK(turned(2, 0) == 3);
}
