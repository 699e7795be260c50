// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/extents.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::dyn;
using dp::extents;

TEST_CASE("static extents need no memory and are known at compile time", "[tensor][extents]") {
  using e = extents<2, 3, 4>;
  STATIC_REQUIRE(std::is_empty_v<e>);
  STATIC_REQUIRE((e::is_static && e::rank == 3 && e::dynamic_count == 0));
  STATIC_REQUIRE((e{}.extent(0) == 2 && e{}.extent(1) == 3 && e{}.extent(2) == 4));
  STATIC_REQUIRE(e{}.size() == 24);
  STATIC_REQUIRE((e{}.stride(0) == 12 && e{}.stride(1) == 4 && e{}.stride(2) == 1));
  STATIC_REQUIRE(e::static_extent(1) == 3);
}

TEST_CASE("extents without axes describe a scalar", "[tensor][extents]") {
  STATIC_REQUIRE((extents<>::rank == 0 && extents<>{}.size() == 1 && extents<>::is_static));
  CHECK(dp::detail::to_string(extents<>{}) == "scalar");
}

TEST_CASE("constructors take the dynamic extents or all extents", "[tensor][extents]") {
  using e = extents<dyn, 28, dyn>;
  const e by_dynamic{5, 7};
  const e by_all{5, 28, 7};
  CHECK((by_dynamic.extent(0) == 5 && by_dynamic.extent(1) == 28 && by_dynamic.extent(2) == 7));
  CHECK(by_dynamic == by_all);
  CHECK(by_dynamic.size() == 5 * 28 * 7);
  CHECK(by_dynamic.stride(0) == 28 * 7);
  CHECK(e{}.size() == 0);
  STATIC_REQUIRE(sizeof(e) == 2 * sizeof(std::size_t));
  STATIC_REQUIRE(!e::is_static);
  CHECK(dp::detail::to_string(by_all) == "5x28x7");
}

TEST_CASE("a static extent rejects another value", "[tensor][extents]") {
  CHECK_THROWS_AS((extents<dyn, 28>{5, 27}), dp::shape_error);
  CHECK_THROWS_WITH((extents<dyn, 28>{5, 27}),
                    Catch::Matchers::ContainsSubstring("28") && Catch::Matchers::ContainsSubstring("27"));
  CHECK_THROWS_AS((extents<3>(extents<dyn>{4})), dp::shape_error);
}

TEST_CASE("extents convert implicitly where no check can fail, otherwise by a cast", "[tensor][extents]") {
  STATIC_REQUIRE(std::convertible_to<extents<2, 3>, extents<dyn, 3>>);
  STATIC_REQUIRE(!std::convertible_to<extents<dyn, 3>, extents<2, 3>>);
  STATIC_REQUIRE(std::constructible_from<extents<2, 3>, extents<dyn, 3>>);
  STATIC_REQUIRE(!std::constructible_from<extents<2, 3>, extents<3, 3>>);
  STATIC_REQUIRE(!std::constructible_from<extents<2, 3>, extents<2, 3, 1>>);
  const extents<dyn, dyn> wide = extents<2, 3>{};
  CHECK((wide.extent(0) == 2 && wide.extent(1) == 3));
  CHECK(extents<2, 3>(wide) == wide);
}

TEST_CASE("extents are equal when rank and all sizes are", "[tensor][extents]") {
  CHECK(extents<2, 3>{} == extents<dyn, 3>{2});
  CHECK_FALSE(extents<2, 3>{} == extents<dyn, 3>{3});
  CHECK_FALSE(extents<2, 3>{} == extents<2, 3, 1>{});
  CHECK(extents<2>{} != extents<3>{});
}

TEST_CASE("helpers add the first axis", "[tensor][extents]") {
  STATIC_REQUIRE(std::same_as<dp::detail::prepend_t<dyn, extents<4>>, extents<dyn, 4>>);
  STATIC_REQUIRE(std::same_as<dp::dextents<3>, extents<dyn, dyn, dyn>>);
  STATIC_REQUIRE(std::same_as<dp::dextents<0>, extents<>>);
  STATIC_REQUIRE(dp::detail::compatible<extents<2, dyn>, extents<dyn, 3>>);
  STATIC_REQUIRE(!dp::detail::compatible<extents<2, dyn>, extents<3, dyn>>);
  STATIC_REQUIRE(!dp::detail::compatible<extents<2>, extents<2, 1>>);
  STATIC_REQUIRE((dp::extents_like<extents<2>> && !dp::extents_like<int>));
}

TEST_CASE("extents with more elements than a machine can address are rejected", "[tensor][extents]") {
  constexpr std::size_t half = std::size_t{1} << 32;
  CHECK_THROWS_WITH(extents<dyn>(-1), Catch::Matchers::ContainsSubstring("18446744073709551615") &&
                                          Catch::Matchers::ContainsSubstring("look for a negative number"));
  CHECK_THROWS_AS((extents<dyn, dyn>(half, half)), dp::shape_error);  // the product overflows to 0
  CHECK_THROWS_AS((extents<dyn, 4>(std::size_t{1} << 62)), dp::shape_error);
  CHECK((extents<dyn, dyn>(half, std::size_t{1} << 27)).size() == std::size_t{1} << 59);
  CHECK((extents<dyn, dyn, dyn>(half, half, 0)).size() == 0);
  CHECK_THROWS_WITH((extents<dyn, dyn>(0, -1)), Catch::Matchers::ContainsSubstring("look for a negative number"));
  CHECK_THROWS_AS((extents<dyn, 0>(-1)), dp::shape_error);
}
