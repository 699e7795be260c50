// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/categorical.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/categorical_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;

namespace {

const dp::tensor<float, dp::extents<2, 3>, dp::cpu> logits{{0, 3, 1}, {2, -1, 2}};
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("categories are drawn with the probabilities of softmax", "[ops]") {
  dp::test::test_categories<dp::on<dp::cpu>>();
}

TEST_CASE("temperature 0 and the largest logit alone give the likeliest category", "[ops]") {
  CHECK(support::values_of(dp::categorical(logits, dp::seed{1}, {.temperature = 0})) ==
        std::vector<std::int64_t>{1, 0});
  CHECK(support::values_of(dp::categorical(logits, dp::seed{1}, {.temperature = 1e-310})) ==
        std::vector<std::int64_t>{1, 0});
  CHECK(support::values_of(dp::categorical(logits, dp::seed{1}, {.top_k = 1})) == std::vector<std::int64_t>{1, 0});
  CHECK(dp::categorical(logits[0], dp::seed{1}, {.temperature = 0}).size() == 1);
}

TEST_CASE("equal seeds and streams draw equal categories", "[ops]") {
  const auto rows = dp::zeros<double, dp::cpu>(100, 7);
  const auto draw = [&](std::uint64_t seed, std::uint64_t stream) {
    return support::values_of(dp::categorical(rows, dp::seed{seed}, {.stream = stream}));
  };
  CHECK(draw(1, 2) == draw(1, 2));
  CHECK(draw(1, 2) != draw(1, 3));
  CHECK(draw(1, 2) != draw(2, 2));
}

TEST_CASE("16-bit logits and rows of other axes", "[ops]") {
  const dp::tensor<float, dp::extents<4>, dp::cpu> numbers{0, 50, 50, 0};
  dp::tensor rows = dp::cast<dp::bf16>(numbers.view().reshape(dp::extents<2, 1, 2>{}));
  const auto drawn = dp::categorical(rows, dp::seed{1});
  CHECK(drawn.extents() == dp::extents<2, 1>{});
  CHECK(support::values_of(drawn) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("categories that cannot be drawn", "[ops]") {
  const dp::tensor<float, dp::extents<2>, dp::cpu> masked{-infinity, -1000};
  CHECK(dp::categorical(masked, dp::seed{1})() == 1);
  CHECK_THROWS_WITH(dp::categorical(logits, dp::seed{1}, {.temperature = -1}),
                    ContainsSubstring("categorical: the temperature is -1.0"));
  CHECK_THROWS_AS(dp::categorical(logits, dp::seed{1}, {.temperature = std::nan("")}), dp::argument_error);
  CHECK_THROWS_WITH(dp::categorical(logits, dp::seed{1}, {.top_k = 4}), ContainsSubstring("top_k: 4 elements"));
}
