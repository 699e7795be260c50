// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include <devplace/nn/linear.hpp>
#include <devplace/ops/sort.hpp>
#include <devplace/train/accuracy.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// A model that returns its input.
auto identity() {
  dp::model<nn::linear<3, 3>, dp::on<dp::cpu>> model{dp::seed{1}};
  for (std::size_t i = 0; i < 3; ++i) {
    model.parameter<1>()(i) = 0;
    for (std::size_t j = 0; j < 3; ++j) model.parameter<0>()(i, j) = i == j ? 1.0F : 0.0F;
  }
  return model;
}

using matrix = dp::tensor<float, dp::extents<5, 3>, dp::on<dp::cpu>>;
using labels = dp::tensor<std::int64_t, dp::extents<5>, dp::on<dp::cpu>>;

double measure(const matrix& x, const labels& y, std::size_t batch, std::size_t top = 1) {
  const auto model = identity();
  auto batches = dp::make_loader<dp::on<dp::cpu>>(x, y, {.batch = batch});
  return dp::accuracy(model, batches.epoch(0), {.top = top});
}

}  // namespace

TEST_CASE("accuracy is the fraction of correct rows for any batch size; ties go to the first class", "[train]") {
  const matrix x{{3, 1, 2}, {1, 3, 2}, {1, 2, 3}, {2, 2, 1}, {0, 1, 1}};
  for (const std::size_t batch : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{100}}) {
    CHECK(measure(x, labels{0, 1, 2, 0, 1}, batch) == 1);
    CHECK(measure(x, labels{0, 1, 2, 1, 2}, batch) == 0.6);
    CHECK(measure(x, labels{1, 2, 0, 2, 0}, batch) == 0);
  }
}

TEST_CASE("accuracy treats the first NaN as the largest, like argmax, and rejects missing labels", "[train]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const matrix x{{9, nan, nan}, {1, 3, 2}, {1, 2, 3}, {2, 2, 1}, {0, 1, 1}};
  const auto model = identity();
  const std::pair<matrix, labels> right[] = {{x.clone(), labels{0, 1, 2, 0, 1}}};
  CHECK(dp::accuracy(model, std::span(right)) == 1);  // NaN * 0 makes the whole first row NaN
  const std::pair<matrix, dp::tensor<std::int64_t, dp::extents<4>, dp::on<dp::cpu>>> missing[] = {
      {x.clone(), dp::tensor<std::int64_t, dp::extents<4>, dp::on<dp::cpu>>{1, 1, 2, 0}}};
  CHECK_THROWS_WITH(dp::accuracy(model, std::span(missing)),
                    Catch::Matchers::ContainsSubstring("give labels with the output's sizes"));
}

TEST_CASE("top-k accuracy is the fraction of labels among top_k's classes", "[train]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  using outputs = dp::tensor<float, dp::extents<6, 4>, dp::on<dp::cpu>>;
  const outputs x{{4, 3, 2, 1},          {1, 1, 1, 1},      {0, nan, -nan, 5},
                  {nan, 2, infinity, 2}, {-0.0F, 0, -1, 0}, {1, 2, 3, 4}};
  for (std::int64_t label = -1; label < 5; ++label)
    for (std::size_t k = 1; k <= 4; ++k) {
      CAPTURE(label, k);
      const auto best = dp::top_k(x, k);
      std::int64_t expected = 0;
      for (std::size_t i = 0; i < best.positions.size(); ++i) expected += best.positions.data()[i] == label ? 1 : 0;
      dp::tensor<std::int64_t, dp::extents<6>, dp::on<dp::cpu>> labels(dp::extents<6>{});
      dp::fill(labels, label);
      dp::tensor<std::int64_t, dp::extents<>, dp::on<dp::cpu>> right(dp::extents<>{});
      right() = 100;
      using dp::detail::as_view;
      dp::detail::add_right(right.data(), nullptr, as_view(x), as_view(labels), static_cast<std::int64_t>(k), -1);
      CHECK(right() - 100 == expected);
    }
}

TEST_CASE("accuracy takes k as an option", "[train]") {
  const matrix x{{3, 1, 2}, {1, 3, 2}, {1, 2, 3}, {2, 2, 1}, {0, 1, 1}};
  const labels second{2, 2, 1, 1, 2};
  for (const std::size_t batch : {std::size_t{2}, std::size_t{5}}) {
    CHECK(measure(x, second, batch) == 0);
    CHECK(measure(x, second, batch, 2) == 1);
    CHECK(measure(x, labels{1, 0, 0, 2, 0}, batch, 2) == 0);
    CHECK(measure(x, labels{1, 0, 0, 2, 0}, batch, 3) == 1);
  }
  CHECK_THROWS_AS(measure(x, second, 5, 0), dp::argument_error);
  CHECK_THROWS_WITH(measure(x, second, 5, 4),
                    Catch::Matchers::ContainsSubstring("option top is 4 and the model has 3 classes"));
}

TEST_CASE("accuracy leaves out ignored labels", "[train]") {
  const matrix x{{3, 1, 2}, {1, 3, 2}, {1, 2, 3}, {2, 2, 1}, {0, 1, 1}};
  const auto model = identity();
  const auto of = [&](const labels& y, const dp::accuracy_options& how) {
    auto batches = dp::make_loader<dp::on<dp::cpu>>(x, y, {.batch = 2});
    return dp::accuracy(model, batches.epoch(0), how);
  };
  const labels y{0, -100, 2, 1, -100};
  CHECK(of(y, {}) == 0.4);
  CHECK(of(y, {.ignore_index = -100}) == 2.0 / 3);
  CHECK(of(y, {.top = 2, .ignore_index = -100}) == 1);
  CHECK(of(y, {.ignore_index = 2}) == 0.25);  // ignores a real class, even where predictions are correct
  CHECK(std::isnan(of(labels{5, 5, 5, 5, 5}, {.ignore_index = 5})));
}

TEST_CASE("accuracy over no samples is NaN with a clear sign bit", "[train]") {
  const double none = dp::accuracy(identity(), dp::image_set{});
  CHECK(std::isnan(none));
  CHECK(!std::signbit(none));  // a negative NaN would be printed as -nan
}

TEST_CASE("accuracy over images scales them as the options say", "[train]") {
  dp::image_set set{dp::tensor<std::uint8_t, dp::dextents<3>, dp::on<dp::cpu>>(dp::dextents<3>{2, 1, 3}),
                    dp::tensor<std::uint8_t, dp::dextents<1>, dp::on<dp::cpu>>(dp::dextents<1>{2})};
  const std::uint8_t pixels[] = {0, 200, 10, 9, 0, 1};
  std::copy(pixels, pixels + 6, set.images.data());
  set.labels(0) = 1;
  set.labels(1) = 0;
  CHECK(dp::accuracy(identity(), set) == 1);
  CHECK(dp::accuracy(identity(), set, {.batch = 1, .scale = -1.0}) == 0);
  CHECK(dp::accuracy(identity(), set, {.batch = 1, .scale = -1.0}, {.top = 2}) == 0);
  CHECK(dp::accuracy(identity(), set, {.batch = 1, .scale = -1.0}, {.top = 3}) == 1);
  set.labels(0) = 2;
  CHECK(dp::accuracy(identity(), set) == 0.5);
  CHECK(dp::accuracy(identity(), set, {.top = 2}) == 1);
  CHECK(dp::accuracy(identity(), set, {}) == 0.5);
}
