// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/core.hpp>
#include <devplace/nn.hpp>
#include <devplace/sorting.hpp>

#include "support/catch.hpp"

// Operations on expressions, on any place: the results equal those on the stored elements.
namespace evaluated_case {

namespace dp = devplace;

/// Whether two tensors on one place have the same elements, bit by bit except for NaN.
template <class A, class B> bool equal_elements(const A& a, const B& b) {
  const auto x = dp::to<dp::cpu>(a);
  const auto y = dp::to<dp::cpu>(b);
  static_assert(std::is_same_v<decltype(x), decltype(y)>);
  return x.extents() == y.extents() && std::equal(x.begin(), x.end(), y.begin());
}

/// A function of a user, for tensors, views and expressions.
template <class X> double largest_minus_smallest(const X& x) {
  const auto& values = dp::evaluated(x);
  return double{dp::item(dp::max(values))} - double{dp::item(dp::min(values))};
}

/// Compares operations on an expression with operations on the stored expression; numbers are small integers.
template <class Where> void check_operations_on_expressions() {
  const auto a = dp::to<Where>(dp::tensor<float, dp::extents<2, 3>, dp::cpu>{{1, 2, 3}, {-4, 0, 6}});
  const auto b = dp::to<Where>(dp::tensor<float, dp::extents<2, 3>, dp::cpu>{{2, 0, 1}, {3, -1, 5}});
  const auto labels = dp::to<Where>(dp::tensor<std::int64_t, dp::extents<2>, dp::cpu>{1, 0});
  const dp::tensor sum = a + b;

  SECTION("item") {
    CHECK(dp::item(dp::sum(a * b)) == 2 + 0 + 3 - 12 + 0 + 30);
    CHECK(dp::item(a[0][1] + b[1][2]) == 7);
    CHECK(dp::item(2.0f * dp::sum(a)) == 16);
    CHECK(dp::item(dp::lazy(a[0][0] + 1.0f)) == 2);
  }
  SECTION("softmax") {
    CHECK(equal_elements(dp::softmax(a + b), dp::softmax(sum)));
    CHECK(equal_elements(dp::log_softmax(a + b), dp::log_softmax(sum)));
    CHECK(equal_elements(dp::softmax(dp::transposed(a) + dp::transposed(b)), dp::softmax(dp::transposed(sum))));
  }
  SECTION("products") {
    CHECK(equal_elements(dp::matmul(a + b, dp::transposed(a)), dp::matmul(sum, dp::transposed(a))));
    CHECK(equal_elements(dp::matmul(a, dp::transposed(sum)), dp::matmul(a, dp::transposed(b) + dp::transposed(a))));
  }
  SECTION("rows") {
    const dp::tensor first = labels * 0;
    CHECK(equal_elements(dp::take_rows(a + b, labels * 0), dp::take_rows(sum, first)));
  }
  SECTION("losses") {
    CHECK(equal_elements(dp::mse(a + b, a - b), dp::mse(sum, dp::tensor(a - b))));
    CHECK(dp::item(dp::mse(a + b, a, dp::reduction::sum)) == 4 + 0 + 1 + 9 + 1 + 25);
    CHECK(equal_elements(dp::cross_entropy(a + b, labels), dp::cross_entropy(sum, labels)));
    const auto [loss, gradient] = dp::nn::mse{}(a + b, a * 1.0f);
    CHECK(loss.item() == 40 / 6.0f);
    CHECK(equal_elements(gradient.gradient, dp::tensor(2.0f * b)));
    CHECK(dp::nn::cross_entropy{}(a + b, labels).item() == dp::nn::cross_entropy{}(sum, labels).item());
    CHECK(dp::nn::l1{}(a + b, a).item() == 2);
  }
  SECTION("sorting and cumulative sums") {
    CHECK(equal_elements(dp::sort(a + b), dp::sort(sum)));
    CHECK(equal_elements(dp::argsort(a + b, dp::axis<0>{}), dp::argsort(sum, dp::axis<0>{})));
    CHECK(equal_elements(dp::top_k(a + b, 2).values, dp::top_k(sum, 2).values));
    CHECK(equal_elements(dp::cumsum(a[0] + b[0]), dp::cumsum(sum[0])));
    CHECK(equal_elements(dp::cumprod(a + b, 1), dp::cumprod(sum, 1)));
  }
  SECTION("joining and choosing") {
    const dp::axis<1> along{};
    const dp::tensor columns = labels.view().reshape(dp::extents<2, 1>{}) + 1;
    CHECK(equal_elements(dp::concat(along, a + b, a, a * 1.0f), dp::concat(along, sum, a, a)));
    CHECK(equal_elements(dp::concat(dp::axis<0>{}, a, dp::lazy(a + b)), dp::concat(dp::axis<0>{}, a, sum)));
    CHECK(equal_elements(dp::concat(along, a.clone(), sum), dp::concat(along, a, sum)));
    CHECK(equal_elements(dp::stack(along, a, a + b), dp::stack(along, a, sum)));
    CHECK(equal_elements(dp::take_along(a + b, columns * 1, along), dp::take_along(sum, columns, along)));
    auto expected = b.clone(), added = b.clone();
    dp::add_along(expected, columns, dp::take_along(sum, columns, along), along);
    dp::add_along(added, columns * 1, dp::take_along(sum, columns, along) + 0.0f, along);
    CHECK(equal_elements(added, expected));
    CHECK(equal_elements(dp::flip(a + b, along), dp::flip(sum, along)));
    CHECK(equal_elements(dp::tril(a + b), dp::tril(sum)));
    const dp::categorical_options options{.top_k = 2};
    CHECK(equal_elements(dp::categorical(a + b, dp::seed{1}, options), dp::categorical(sum, dp::seed{1}, options)));
  }
  SECTION("other operations, by evaluated()") { CHECK(equal_elements(dp::sort(dp::evaluated(a + b)), dp::sort(sum))); }
  SECTION("to") {
    CHECK(equal_elements(dp::to<dp::cpu>(a + b), sum));
    CHECK(equal_elements(dp::to<Where>(a + b), sum));
  }
  SECTION("functions of the user") {
    CHECK(largest_minus_smallest(a) == 10);
    CHECK(largest_minus_smallest(a.view()) == 10);
    CHECK(largest_minus_smallest(a + b) == 12);
    CHECK(&dp::evaluated(a) == &a);  // no copy
    static_assert(std::is_same_v<decltype(dp::evaluated(a[0])), std::remove_const_t<decltype(a[0])>>);
    static_assert(std::is_same_v<decltype(dp::evaluated(a + b)), std::remove_const_t<decltype(sum)>>);
    auto temporary = a.clone();
    const auto* const address = std::to_address(temporary.data());
    const auto kept = dp::evaluated(std::move(temporary));
    CHECK(std::to_address(kept.data()) == address);
    const auto named = a + b;
    CHECK(equal_elements(dp::evaluated(named), sum));
  }
}

}  // namespace evaluated_case
