// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <concepts>

#include "ops/elementwise_device_case.hpp"
#include "support/catch.hpp"

namespace dp = devplace;

namespace {

template <int I> using device = dp::on<dp::cuda<I>>;

}  // namespace

TEST_CASE("simulated devices compute expressions as the CPU does", "[ops][elementwise]") {
  CHECK(dp::test::exact_formulas_differ_by<device<2>>() == 0);
  CHECK(dp::test::approximate_formulas_differ_by<device<1>>() == 0);
  CHECK(dp::test::assignments_differ_by<device<1>>() == 0);
}

TEST_CASE("simulated devices draw the CPU's random numbers and scale bytes alike", "[ops][random]") {
  CHECK(dp::test::random_numbers_differ_by<device<0>>() == 0);
  CHECK(dp::test::random_numbers_differ_by<device<1>>() == 0);
  CHECK(dp::test::scaled_bytes_differ_by<device<1>>() == 0);
}

TEST_CASE("an expression stays on its operands' device", "[ops][elementwise]") {
  const auto a = dp::ones<float, device<1>>(dp::extents<3>{});
  dp::tensor b = a + 2.0f * a;
  STATIC_REQUIRE(std::same_as<decltype(b), dp::tensor<float, dp::extents<3>, device<1>>>);
  CHECK(dp::item(b.slice(2, 3)) == 3);
}

TEST_CASE("views without an ordinal in their type refuse to mix devices", "[ops][elementwise]") {
  auto a = dp::ones<float, device<0>>(dp::extents<3>{});
  auto b = dp::ones<float, device<1>>(dp::extents<3>{});
  const auto on_zero = a.view().erased(), on_one = b.view().erased();
  CHECK_THROWS_AS(on_zero = on_zero + on_one, dp::argument_error);
  CHECK_THROWS_WITH(on_zero = on_one + 1.0f,
                    Catch::Matchers::ContainsSubstring("cuda:1") && Catch::Matchers::ContainsSubstring("cuda:0"));
  CHECK_THROWS_AS(dp::dropout_into(on_zero, on_one, 0.5, {}), dp::argument_error);
}

TEST_CASE("printing copies from the device", "[tensor][print]") {
  CHECK(dp::test::printed<device<1>>() == "tensor<float, 2x2> on cuda:1\n[[ 1.   2.5]\n [-3.   4. ]]");
}
