// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/function_view.hpp>

#include <type_traits>

#include "support/catch.hpp"

using devplace::detail::function_view;

TEST_CASE("a function_view calls the function that it refers to, not a copy", "[base]") {
  struct counter {
    int total = 0;
    void operator()(int by) { total += by; }
  } count;
  const function_view<int> view(count);
  view(2);
  const function_view<int> copy = view;
  copy(3);
  CHECK(count.total == 5);
}

TEST_CASE("a function_view passes references on", "[base]") {
  const auto twice = [](int& x) { x *= 2; };
  int number = 4;
  const function_view<int&> view(twice);
  view(number);
  CHECK(number == 8);
}

TEST_CASE("a function_view refers to variables only, because a temporary would not outlive it", "[base]") {
  struct function {
    void operator()(int) const {}
  };
  CHECK(std::is_constructible_v<function_view<int>, const function&>);
  CHECK(!std::is_constructible_v<function_view<int>, function>);
  CHECK(!std::is_convertible_v<function&, function_view<int>>);
}
