// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/ops/distributed_matmul.hpp>
#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using namespace dp::test;

namespace {

using whole = dp::replicated<0, 1, 2>;
using rows = dp::sharded<dp::axis<0>, 0, 1, 2>;
using sums = dp::partial<dp::reduction::sum, 0, 1, 2>;
using means = dp::partial<dp::reduction::mean, 0, 1, 2>;

using batch = dp::extents<dp::dyn, 3>;
using weights = dp::extents<3, 4>;

/// Returns the product of two matrices on the host, with elements `a(i, l)` and `b(l, j)`. Exact for small integers.
template <class A, class B> std::vector<float> product(std::size_t m, std::size_t n, std::size_t k, A a, B b) {
  std::vector<float> c(m * n);
  for (std::size_t i = 0; i != m; ++i)
    for (std::size_t j = 0; j != n; ++j)
      for (std::size_t l = 0; l != k; ++l) c[i * n + j] += a(i, l) * b(l, j);
  return c;
}

auto element_of(const std::vector<float>& values, std::size_t columns) {
  return [&values, columns](std::size_t i, std::size_t j) { return values[i * columns + j]; };
}
auto exchanged_element_of(const std::vector<float>& values, std::size_t columns) {
  return [&values, columns](std::size_t i, std::size_t j) { return values[j * columns + i]; };
}

}  // namespace

TEST_CASE("rows times a replicated matrix are rows", "[ops][algebra]") {
  const auto w = distributed_numbers<whole>(weights{}, 2);
  const auto w_stored = distributed_numbers<whole>(dp::extents<5, 3>{}, 3);
  const auto of_w = small_numbers(weights{}, 2), of_stored = small_numbers(dp::extents<5, 3>{}, 3);
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 10}) {
    const auto x = distributed_numbers<rows>(batch(n), 1);
    const auto of_x = small_numbers(batch(n), 1);
    const auto y = dp::matmul(x, w);
    STATIC_REQUIRE(std::same_as<decltype(y), const dp::tensor<float, dp::extents<dp::dyn, 4>, rows>>);
    CHECK(value_of(y) == product(n, 4, 3, element_of(of_x, 3), element_of(of_w, 4)));
    const auto z = dp::matmul(x, dp::transposed(w_stored));
    STATIC_REQUIRE(std::same_as<decltype(z), const dp::tensor<float, dp::extents<dp::dyn, 5>, rows>>);
    CHECK(value_of(z) == product(n, 5, 3, element_of(of_x, 3), exchanged_element_of(of_stored, 3)));
  }
}

TEST_CASE("the gradient of a replicated matrix from rows is partial", "[ops][algebra]") {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 10}) {
    const auto x = distributed_numbers<rows>(batch(n), 1);
    const auto dy = distributed_numbers<rows>(dp::extents<dp::dyn, 4>(n), 2);
    const auto of_x = small_numbers(batch(n), 1), of_dy = small_numbers(dp::extents<dp::dyn, 4>(n), 2);
    const auto dw = dp::matmul(dp::transposed(x), dy);
    STATIC_REQUIRE(std::same_as<decltype(dw), const dp::tensor<float, weights, sums>>);
    CHECK(value_of(dw) == product(3, 4, n, exchanged_element_of(of_x, 3), element_of(of_dy, 4)));
  }
}

TEST_CASE("replicated times replicated is replicated", "[ops][algebra]") {
  const auto a = distributed_numbers<whole>(dp::extents<3, 5>{}, 1);
  const auto b = distributed_numbers<whole>(weights{}, 2);
  const auto of_a = small_numbers(dp::extents<3, 5>{}, 1), of_b = small_numbers(weights{}, 2);
  const auto c = dp::matmul(dp::transposed(a), b);
  STATIC_REQUIRE(std::same_as<decltype(c), const dp::tensor<float, dp::extents<5, 4>, whole>>);
  CHECK(value_of(c) == product(5, 4, 3, exchanged_element_of(of_a, 5), element_of(of_b, 4)));
  const auto in_tf32 = dp::matmul<dp::tf32>(dp::transposed(a), b);
  STATIC_REQUIRE(std::same_as<decltype(in_tf32), decltype(c)>);
  CHECK(value_of(in_tf32) == value_of(c));
  const auto d = dp::matmul(dp::transposed(b), a);
  CHECK(value_of(d) == product(4, 5, 3, exchanged_element_of(of_b, 4), element_of(of_a, 5)));
}

TEST_CASE("partial times replicated is partial, in either order", "[ops][algebra]") {
  const auto p = distributed_numbers<sums>(dp::extents<2, 3>{}, 1);
  const auto w = distributed_numbers<whole>(weights{}, 2);
  const auto of_w = small_numbers(weights{}, 2);
  const auto of_p = value_of(p);
  const auto c = dp::matmul(p, w);
  STATIC_REQUIRE(std::same_as<decltype(c), const dp::tensor<float, dp::extents<2, 4>, sums>>);
  CHECK(value_of(c) == product(2, 4, 3, element_of(of_p, 3), element_of(of_w, 4)));
  const auto d = dp::matmul(dp::transposed(w), dp::transposed(p));
  STATIC_REQUIRE(std::same_as<decltype(d), const dp::tensor<float, dp::extents<4, 2>, sums>>);
  CHECK(value_of(d) == product(4, 2, 3, exchanged_element_of(of_w, 4), exchanged_element_of(of_p, 3)));
  const auto m = distributed_numbers<means>(dp::extents<2, 3>{}, 1);
  const auto e = dp::matmul(m, w);
  STATIC_REQUIRE(std::same_as<decltype(e)::placement_type, means>);
  CHECK(value_of(e) == value_of(c));
}

TEST_CASE("a product over several places refuses extents that differ at run time", "[ops][algebra]") {
  const auto x = distributed_numbers<rows>(batch(6), 1);
  const auto dy = distributed_numbers<rows>(dp::extents<dp::dyn, 4>(5), 2);
  const auto w = distributed_numbers<whole>(dp::extents<dp::dyn, 4>(2), 3);
  CHECK_THROWS_AS(dp::matmul(dp::transposed(x), dy), dp::shape_error);
  CHECK_THROWS_AS(dp::matmul(x, w), dp::shape_error);
}
