// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sstream>
#include <type_traits>
#include <utility>

#include <devplace/base/type_text.hpp>
#include <devplace/place/place.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("places are empty types with a name", "[place]") {
  STATIC_REQUIRE(std::is_empty_v<dp::cpu>);
  STATIC_REQUIRE(std::is_empty_v<dp::cuda<5>>);
  STATIC_REQUIRE(std::is_same_v<dp::gpu<2>, dp::cuda<2>>);
  CHECK(dp::place_name<dp::cpu>() == "cpu");
  CHECK(dp::place_name<dp::cuda<12>>() == "cuda:12");
  CHECK(dp::place_name<dp::pinned>() == "pinned");
  std::ostringstream out;
  out << dp::cpu{} << ' ' << dp::cuda<1>{};
  CHECK(out.str() == "cpu cuda:1");
}

TEST_CASE("a place has a backend and an ordinal", "[place]") {
  STATIC_REQUIRE(dp::place<dp::cpu>);
  STATIC_REQUIRE(dp::place<dp::cuda<0>>);
  STATIC_REQUIRE_FALSE(dp::place<int>);
  STATIC_REQUIRE(std::is_same_v<dp::backend_of_t<dp::cuda<0>>, dp::backend_of_t<dp::cuda<7>>>);
  STATIC_REQUIRE(dp::place_traits<dp::cuda<7>>::ordinal == 7);
  STATIC_REQUIRE(dp::place_traits<dp::cpu>::host_accessible);
  STATIC_REQUIRE_FALSE(dp::place_traits<dp::cuda<7>>::host_accessible);
  STATIC_REQUIRE(dp::place<dp::pinned>);
  STATIC_REQUIRE(dp::place_traits<dp::pinned>::host_accessible);
  STATIC_REQUIRE_FALSE(std::is_same_v<dp::backend_of_t<dp::pinned>, dp::backend_of_t<dp::cpu>>);
}

TEST_CASE("type names match the formats of g++ and clang", "[place]") {
  using devplace::detail::portable_type_text, devplace::detail::type_text;
  CHECK(type_text<std::pair<int, std::pair<int, float>>>() == "std::pair<int, std::pair<int, float>>");
  CHECK(portable_type_text("a<b<c<{anonymous}::d> > >") == "a<b<c<(anonymous namespace)::d>>>");
}
