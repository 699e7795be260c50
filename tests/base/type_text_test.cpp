// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/type_text.hpp>

#include <vector>

#include "support/catch.hpp"

TEST_CASE("names of types are equal with every compiler", "[base]") {
  using devplace::detail::portable_type_text;
  CHECK(devplace::detail::type_text<float>() == "float");
  CHECK(portable_type_text("a<b<c> >") == "a<b<c>>");
  CHECK(portable_type_text("a<b<c<d> > >") == "a<b<c<d>>>");
  CHECK(portable_type_text("{anonymous}::x") == "(anonymous namespace)::x");
}
