// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operations on tensors that are split unevenly or along an axis other than the first.

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/leading_extent.hpp>
#include <devplace/tensor/distributed.hpp>

#include "ops/distributed_tensors.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using namespace dp::test;

namespace {

using host = dp::on<dp::cpu>;
using whole = dp::replicated<0, 1, 2>;
using rows = dp::sharded<dp::axis<0>, 0, 1, 2>;
using columns = dp::sharded<dp::axis<1>, 0, 1, 2>;
using sums = dp::partial<dp::reduction::sum, 0, 1, 2>;

using matrix = dp::extents<6, 4>;

/// Makes a matrix of small numbers on the host.
template <class Extents> auto host_numbers(const Extents& extents, std::size_t key) {
  dp::tensor<float, Extents, host> x(extents);
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = small_number(i, key);
  return x;
}

template <class Tensor> std::vector<float> elements(const Tensor& x) { return {x.data(), x.data() + x.size()}; }

template <class Tensor> std::vector<std::size_t> sizes_of(const Tensor& x) {
  const auto sizes = x.split_sizes().values;
  return {sizes.begin(), sizes.end()};
}

}  // namespace

TEST_CASE("results have the split of their operands", "[ops][algebra]") {
  const std::vector<std::size_t> sizes{1, 0, 5};
  const auto on_host = host_numbers(matrix{}, 1);
  const auto w_on_host = host_numbers(dp::extents<4, 2>{}, 2);
  const auto x = dp::scatter<rows>(on_host, dp::split::sizes{1, 0, 5});
  const auto w = distributed_numbers<whole>(dp::extents<4, 2>{}, 2);
  const auto bias = distributed_numbers<whole>(dp::extents<4>{}, 3);

  dp::tensor y = bias * x + x;
  CHECK(sizes_of(y) == sizes);
  CHECK(value_of(y) ==
        values_by_index(24, [](std::size_t i) { return small_number(i, 1) * (small_number(i % 4, 3) + 1); }));
  const auto product = dp::matmul(x, w);
  CHECK(sizes_of(product) == sizes);
  dp::tensor expected = dp::matmul(on_host, w_on_host);
  CHECK(value_of(product) == elements(expected));
  CHECK(value_of(dp::matmul(dp::transposed(x), product)) == elements(dp::matmul(dp::transposed(on_host), expected)));
  const auto total = dp::sum(x, dp::axis<1>{});
  CHECK(sizes_of(total) == sizes);
  CHECK(value_of(total) == elements(dp::sum(on_host, dp::axis<1>{})));
  CHECK(value_of(dp::sum(x, dp::axis<0>{})) == elements(dp::sum(on_host, dp::axis<0>{})));
  const auto probabilities = dp::softmax(x);
  CHECK(sizes_of(probabilities) == sizes);
  CHECK(value_of(probabilities) == elements(dp::softmax(on_host)));
}

TEST_CASE("operands that are split differently are rejected", "[ops][algebra]") {
  const auto on_host = host_numbers(matrix{}, 1);
  const auto x = dp::scatter<rows>(on_host, dp::split::sizes{1, 0, 5});
  auto even = dp::scatter<rows>(on_host);
  CHECK_THROWS_AS(x + even, dp::shape_error);
  CHECK_THROWS_WITH(even * 2.0f - x, Catch::Matchers::ContainsSubstring("split differently"));
  CHECK_THROWS_WITH(even = x * 2.0f, Catch::Matchers::ContainsSubstring("split differently"));
  CHECK_THROWS_WITH(even += x, Catch::Matchers::ContainsSubstring("split differently"));
  CHECK_THROWS_WITH(dp::matmul(dp::transposed(x), even), Catch::Matchers::ContainsSubstring("split differently"));
  CHECK(value_of(even) == elements(on_host));
}

TEST_CASE("tensors that are split along columns", "[ops][algebra]") {
  const auto on_host = host_numbers(matrix{}, 1);
  const auto other_on_host = host_numbers(matrix{}, 2);
  const auto x = dp::scatter<columns>(on_host, dp::split::sizes{0, 3, 1});
  const auto other = dp::scatter<columns>(other_on_host, dp::split::sizes{0, 3, 1});
  const auto column = distributed_numbers<whole>(dp::extents<6, 1>{}, 3);

  dp::tensor y = x * other + column;
  STATIC_REQUIRE(std::same_as<decltype(y), dp::tensor<float, matrix, columns>>);
  CHECK(elements(dp::gather<host>(y)) == values_by_index(24, [](std::size_t i) {
          return small_number(i, 1) * small_number(i, 2) + small_number(i / 4, 3);
        }));

  const auto a_on_host = host_numbers(dp::extents<2, 6>{}, 4);
  const auto a = distributed_numbers<whole>(dp::extents<2, 6>{}, 4);
  const auto product = dp::matmul(a, x);
  STATIC_REQUIRE(std::same_as<decltype(product), const dp::tensor<float, dp::extents<2, 4>, columns>>);
  CHECK(elements(dp::gather<host>(product)) == elements(dp::matmul(a_on_host, on_host)));
  const auto exchanged = dp::matmul(dp::transposed(x), dp::transposed(a));
  STATIC_REQUIRE(std::same_as<decltype(exchanged), const dp::tensor<float, dp::extents<4, 2>, rows>>);
  CHECK(sizes_of(exchanged) == sizes_of(x));
  CHECK(value_of(exchanged) == elements(dp::matmul(dp::transposed(on_host), dp::transposed(a_on_host))));
  const auto inner = dp::matmul(x, dp::transposed(other));
  STATIC_REQUIRE(std::same_as<decltype(inner), const dp::tensor<float, dp::extents<6, 6>, sums>>);
  CHECK(value_of(inner) == elements(dp::matmul(on_host, dp::transposed(other_on_host))));

  const auto total = dp::sum(x, dp::axis<0>{});
  STATIC_REQUIRE(std::same_as<decltype(total), const dp::tensor<float, dp::extents<4>, rows>>);
  CHECK(sizes_of(total) == sizes_of(x));
  CHECK(value_of(total) == elements(dp::sum(on_host, dp::axis<0>{})));
  const auto of_rows = dp::sum(x, dp::axis<1>{});
  STATIC_REQUIRE(std::same_as<decltype(of_rows), const dp::tensor<float, dp::extents<6>, sums>>);
  CHECK(value_of(of_rows) == elements(dp::sum(on_host, dp::axis<1>{})));
}

TEST_CASE("columns times rows with equal splits are partial", "[ops][algebra]") {
  const auto a_on_host = host_numbers(dp::extents<5, 6>{}, 1);
  const auto b_on_host = host_numbers(matrix{}, 2);
  const std::vector<float> expected = elements(dp::matmul(a_on_host, b_on_host));
  const dp::split::sizes parts{1, 0, 5};
  const auto a = dp::scatter<columns>(a_on_host, parts);
  const auto b = dp::scatter<rows>(b_on_host, parts);
  const auto product = dp::matmul(a, b);
  STATIC_REQUIRE(std::same_as<decltype(product), const dp::tensor<float, dp::extents<5, 4>, sums>>);
  CHECK(value_of(product) == expected);

  dp::tensor<float, dp::extents<6, 5>, host> a_stored;
  dp::copy(a_stored, dp::transposed(a_on_host));
  dp::tensor<float, dp::extents<4, 6>, host> b_stored;
  dp::copy(b_stored, dp::transposed(b_on_host));
  const auto a_exchanged = dp::scatter<rows>(a_stored, parts);
  const auto b_exchanged = dp::scatter<columns>(b_stored, parts);
  CHECK(value_of(dp::matmul(dp::transposed(a_exchanged), b)) == expected);
  CHECK(value_of(dp::matmul(a, dp::transposed(b_exchanged))) == expected);
  const auto of_two = dp::matmul(dp::transposed(a_exchanged), dp::transposed(b_exchanged));
  STATIC_REQUIRE(std::same_as<decltype(of_two), decltype(product)>);
  CHECK(value_of(of_two) == expected);

  const auto other = dp::scatter<rows>(b_on_host, dp::split::sizes{2, 2, 2});
  CHECK_THROWS_WITH(dp::matmul(a, other),
                    Catch::Matchers::ContainsSubstring("place 0 has extent 1 in one operand and 2 in the other"));
}

TEST_CASE("a whole matrix times the transpose of a split one is split along columns", "[ops][algebra]") {
  const auto on_host = host_numbers(matrix{}, 1);
  const auto a_on_host = host_numbers(dp::extents<3, 4>{}, 2);
  const auto x = dp::scatter<rows>(on_host, dp::split::sizes{4, 0, 2});
  const auto a = distributed_numbers<whole>(dp::extents<3, 4>{}, 2);
  const auto product = dp::matmul(a, dp::transposed(x));
  STATIC_REQUIRE(std::same_as<decltype(product), const dp::tensor<float, dp::extents<3, 6>, columns>>);
  CHECK(sizes_of(product) == sizes_of(x));
  CHECK(elements(dp::gather<host>(product)) == elements(dp::matmul(a_on_host, dp::transposed(on_host))));
}

TEST_CASE("results keep their operands' split rule for later extents", "[ops]") {
  using table = dp::extents<dp::dyn, 4>;
  const dp::tensor<float, table, rows> x(table(12), dp::split::torch);
  const auto check = [](auto y) {
    CHECK(y.local(2).extent(0) == 4);
    dp::detail::leading_extent::set(y, 7);  // an even split would be 3, 2, 2
    CHECK(y.split_sizes().values == std::array<std::size_t, 3>{3, 3, 1});
  };
  check(x.clone());
  check(dp::tensor(x + x));
  check(dp::sum(x, dp::axis<1>{}));
  check(dp::softmax(x));
  check(dp::matmul(x, dp::tensor<float, dp::extents<4, 2>, whole>(dp::extents<4, 2>{})));
}
