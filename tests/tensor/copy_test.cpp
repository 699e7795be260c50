// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/copy.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

TEST_CASE("copy writes the source's elements", "[tensor][copy]") {
  const dp::tensor<float, extents<2, 3>, on<cpu>> a{{1, 2, 3}, {4, 5, 6}};
  dp::tensor<float, extents<dyn, 3>, on<cpu>> b(extents<dyn, 3>{2});
  dp::copy(b, a);
  CHECK(b(1, 2) == 6);
  dp::copy(b[0], a[1]);
  CHECK((b(0, 0) == 4 && b(0, 2) == 6 && b(1, 0) == 4));
  dp::copy(b.slice(1, 2), a.slice(0, 1));
  CHECK(b(1, 1) == 2);
  dp::copy(b.view().erased(), a.view().erased());
  CHECK((b(0, 0) == 1 && b(1, 2) == 6));
}

TEST_CASE("ranges of a copy may overlap", "[tensor][copy]") {
  dp::tensor<float, extents<6>, on<cpu>> a{1, 2, 3, 4, 5, 6};
  dp::copy(a.slice(1, 6), a.slice(0, 5));
  CHECK((a(0) == 1 && a(1) == 1 && a(2) == 2 && a(5) == 5));
}

TEST_CASE("extents that differ at run time throw", "[tensor][copy]") {
  const dp::tensor<float, extents<dyn>, on<cpu>> a(extents<dyn>{3});
  dp::tensor<float, extents<dyn>, on<cpu>> b(extents<dyn>{4});
  CHECK_THROWS_AS(dp::copy(b, a), dp::shape_error);
  CHECK_THROWS_WITH(dp::copy(b, a), Catch::Matchers::ContainsSubstring("4") && Catch::Matchers::ContainsSubstring("3"));
  dp::tensor<float, extents<dyn>, on<cpu>> none(extents<dyn>{0}), nothing(extents<dyn>{0});
  CHECK_NOTHROW(dp::copy(none, nothing));
}

TEST_CASE("to() copies, but moves a temporary that is already on the placement", "[tensor][copy]") {
  dp::tensor<float, extents<3>, on<cpu>> a{1, 2, 3};
  const float* memory = a.data();
  auto b = dp::to<on<cpu>>(a);
  STATIC_REQUIRE(std::same_as<decltype(b), dp::tensor<float, extents<3>, on<cpu>>>);
  CHECK(b.data() != memory);
  CHECK(b(2) == 3);
  const auto c = dp::to<on<cpu>>(std::move(a));
  CHECK(c.data() == memory);
  const auto d = dp::to<on<cpu>>(c.slice(1, 3));
  CHECK((d.extent(0) == 2 && d(1) == 3));
  const auto e = dp::to<on<cpu>>(std::as_const(b).view());
  CHECK(e(0) == 1);
}
