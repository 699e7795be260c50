// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::axis;

namespace {

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::cpu>;
using list = dp::tensor<float, dp::extents<dp::dyn>, dp::cpu>;
using strided = dp::view<float, dp::extents<3, 2>, dp::cpu, dp::strided>;
using transposed_matrix = dp::view<float, dp::extents<3, 2>, dp::cpu, dp::column_major>;

template <class X>
inline constexpr bool is_contiguous =
    std::ranges::contiguous_range<X> && std::ranges::sized_range<X> && std::ranges::common_range<X>;
template <class X>
inline constexpr bool is_random_access = std::ranges::random_access_range<X> && std::ranges::sized_range<X> &&
                                         std::ranges::common_range<X> && !std::ranges::contiguous_range<X>;
template <class X, class T> inline constexpr bool refers_to = std::is_same_v<std::ranges::range_reference_t<X>, T&>;

// Contiguous: tensors and row-major views, of any rank, in memory that the host can reach.
static_assert(is_contiguous<matrix> && is_contiguous<const matrix> && is_contiguous<matrix&>);
static_assert(is_contiguous<list> && is_contiguous<dp::tensor<std::uint8_t, dp::extents<>, dp::cpu>>);
static_assert(is_contiguous<matrix::view_type> && is_contiguous<const matrix::const_view_type>);
static_assert(refers_to<matrix, float> && refers_to<const matrix, const float>);
static_assert(refers_to<const matrix::view_type, float> && refers_to<matrix::const_view_type, const float>);

// Random access: views with strides.
static_assert(is_random_access<strided> && is_random_access<const strided> && is_random_access<transposed_matrix>);
static_assert(refers_to<const strided, float>);
static_assert(refers_to<dp::view<const float, dp::extents<>, dp::cpu, dp::strided>, const float>);

// Iterators outlive views, not tensors.
static_assert(std::ranges::borrowed_range<strided> && std::ranges::borrowed_range<matrix::view_type>);
static_assert(!std::ranges::borrowed_range<matrix>);

// The host cannot reach the elements, or they are on several places.
using on_device = dp::on<dp::cuda<0>>;
static_assert(!std::ranges::range<dp::view<float, dp::extents<2, 3>, on_device>>);
static_assert(!std::ranges::range<dp::view<float, dp::extents<2, 3>, on_device, dp::strided>>);
static_assert(!std::ranges::range<dp::view<float, dp::extents<2, 3>, dp::here<dp::backend::cpu>>>);
static_assert(!std::is_constructible_v<std::span<float>, dp::view<float, dp::extents<2, 3>, on_device>>);

// Spans: const elements of a const tensor, and none of a temporary tensor that may be written.
static_assert(std::is_constructible_v<std::span<float>, matrix&> &&
              std::is_constructible_v<std::span<const float>, const matrix&> &&
              std::is_constructible_v<std::span<float>, matrix::view_type> &&
              !std::is_constructible_v<std::span<float>, const matrix&> &&
              !std::is_constructible_v<std::span<float>, matrix> &&
              !std::is_constructible_v<std::span<float>, strided>);

float sum_of(std::span<const float> x) { return std::accumulate(x.begin(), x.end(), 0.0f); }

// The elements in row-major order by the indices alone.
template <class View> std::vector<float*> addresses(const View& x) {
  std::vector<float*> result;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j)
      for (std::size_t k = 0; k < x.extent(2); ++k) result.push_back(&x(i, j, k));
  return result;
}

// Compares every way to move an iterator with the brute force.
template <class View> void check_iterators(const View& x) {
  const std::vector<float*> expected = addresses(x);
  const auto size = static_cast<std::ptrdiff_t>(expected.size());
  const auto first = x.begin(), last = x.end();
  REQUIRE(last - first == size);
  REQUIRE(static_cast<std::size_t>(size) == x.size());
  auto forward = first, backward = last, postfix = first;
  for (std::ptrdiff_t n = 0; n != size; ++n) {
    REQUIRE(forward != last);
    REQUIRE(&*forward == expected[static_cast<std::size_t>(n)]);
    REQUIRE(&*postfix++ == &*forward);
    ++forward;
    --backward;
    REQUIRE(&*backward == expected[static_cast<std::size_t>(size - 1 - n)]);
    REQUIRE(&first[n] == expected[static_cast<std::size_t>(n)]);
    REQUIRE(last - n - first == size - n);
    for (std::ptrdiff_t m = 0; m < size; ++m) {
      const auto from = first + n, to = m + first;
      REQUIRE(&*(from + (m - n)) == expected[static_cast<std::size_t>(m)]);
      REQUIRE(&*(from - (n - m)) == expected[static_cast<std::size_t>(m)]);
      REQUIRE(to - from == m - n);
      REQUIRE(((from < to) == (n < m) && (from == to) == (n == m) && (from >= to) == (n >= m)));
    }
    auto back_from_end = last;
    back_from_end -= size - n;
    REQUIRE(back_from_end == first + n);
    REQUIRE(&*back_from_end == expected[static_cast<std::size_t>(n)]);
  }
  REQUIRE(forward == last);
  REQUIRE(backward == first);
  REQUIRE(first + size == last);
  if (size != 0) {
    auto past = forward--;
    REQUIRE(past == last);
    REQUIRE(&*forward == expected.back());
  }
}

}  // namespace

TEST_CASE("a host tensor is a contiguous range", "[tensor][range]") {
  matrix x{{3, 1, 2}, {6, 5, 4}};
  const matrix& constant = x;
  CHECK(std::accumulate(constant.begin(), constant.end(), 0.0f) == 21);
  CHECK(sum_of(x) == 21);
  CHECK(sum_of(constant) == 21);
  CHECK(sum_of(x[1]) == 15);
  CHECK(std::ranges::max(x) == 6);
  CHECK(std::ranges::data(x) == x.data());
  CHECK(std::ranges::size(x) == 6);
  CHECK(&*x.begin() == x.data());

  std::sort(x.begin(), x.end());
  CHECK((x(0, 0) == 1 && x(0, 2) == 3 && x(1, 0) == 4 && x(1, 2) == 6));
  std::ranges::sort(x, std::ranges::greater{});
  CHECK((x(0, 0) == 6 && x(1, 2) == 1));
  std::reverse(x[1].begin(), x[1].end());
  CHECK((x(1, 0) == 1 && x(1, 2) == 3));
  CHECK(std::vector<float>(std::ranges::rbegin(x), std::ranges::rend(x)) == std::vector<float>{3, 2, 1, 4, 5, 6});
  const std::span<float> elements(x);
  elements[5] = 7;
  CHECK(x(1, 2) == 7);
  for (float& value : x) value = -value;
  CHECK(x(1, 2) == -7);
  CHECK(std::ranges::find(x.view(), -7.0f) == x.end() - 1);
  auto evens = x | std::views::filter([](float v) { return v == -2 || v == -4; });
  CHECK(std::ranges::distance(evens) == 2);
}

TEST_CASE("ranges of rank 0 have one element, empty ones none", "[tensor][range]") {
  dp::tensor<float, dp::extents<>, dp::cpu> scalar;
  for (float& value : scalar) value = 5;
  CHECK(scalar() == 5);
  CHECK(scalar.end() - scalar.begin() == 1);
  matrix x{{1, 2, 3}, {4, 5, 6}};
  const auto element = x.select(axis<1>{}, 2)[1];  // strided
  REQUIRE(element.rank == 0);
  REQUIRE(element.end() - element.begin() == 1);
  CHECK(*element.begin() == 6);
  CHECK(std::next(element.begin()) == element.end());
  CHECK(&*std::prev(element.end()) == &x(1, 2));

  const list nothing;
  CHECK(nothing.begin() == nothing.end());
  CHECK(std::ranges::empty(nothing));
  const auto no_columns = x.slice(axis<1>{}, 1, 1);
  CHECK(no_columns.begin() == no_columns.end());
  CHECK(no_columns.begin() + 0 == no_columns.end());
  CHECK(std::ranges::distance(no_columns) == 0);
  list empty_sorted;
  std::ranges::sort(empty_sorted);
}

TEST_CASE("views with strides are random-access ranges in row-major order", "[tensor][range]") {
  std::vector<float> memory(4 * 5 * 6);
  std::iota(memory.begin(), memory.end(), 0.0f);
  const auto x = dp::wrap(memory, dp::extents<4, 5, 6>{});
  check_iterators(x);
  check_iterators(dp::transposed(x));
  check_iterators(x.permute(axis<2>{}, axis<0>{}, axis<1>{}));
  check_iterators(x.slice(axis<1>{}, 1, 4));
  check_iterators(x.slice(axis<2>{}, 1, 6, 2).slice(axis<0>{}, 0, 4, 3));
  check_iterators(x.slice(axis<2>{}, 2, 3).permute(axis<1>{}, axis<2>{}, axis<0>{}));
  check_iterators(x.slice(axis<1>{}, 2, 2));
  check_iterators(dp::wrap(memory, dp::extents<2, 3, 4>{}, {40, 10, 2}));
}

TEST_CASE("algorithms write through views with strides", "[tensor][range]") {
  matrix x{{3, 1, 2}, {6, 5, 4}};
  const auto columns = dp::transposed(x);
  CHECK(std::vector<float>(columns.begin(), columns.end()) == std::vector<float>{3, 6, 1, 5, 2, 4});
  std::ranges::sort(columns);
  CHECK((x(0, 0) == 1 && x(1, 0) == 2 && x(0, 1) == 3 && x(1, 1) == 4 && x(0, 2) == 5 && x(1, 2) == 6));
  const auto column = x.select(axis<1>{}, 1);
  std::ranges::fill(column, 9.0f);
  CHECK((x(0, 1) == 9 && x(1, 1) == 9 && x(0, 2) == 5));
  for (float& value : column) value += 1;
  CHECK(x(1, 1) == 10);
  std::ranges::reverse(x.select(axis<1>{}, 0));
  CHECK((x(0, 0) == 2 && x(1, 0) == 1));
  const auto repeated = x[0].broadcast_to(dp::extents<2, 3>{});
  CHECK(std::accumulate(repeated.begin(), repeated.end(), 0.0f) == 34);
  CHECK(std::ranges::count(repeated, 10.0f) == 2);
  CHECK(*std::ranges::max_element(x.select(axis<1>{}, 2)) == 6);
  CHECK(std::ranges::equal(x[0], std::array<float, 3>{2, 10, 5}));
  std::ranges::copy(std::array<float, 2>{7, 8}, column.begin());
  CHECK((x(0, 1) == 7 && x(1, 1) == 8));
}

TEST_CASE("ranges of a moved-from tensor throw", "[tensor][range]") {
  matrix x{{3, 1, 2}, {6, 5, 4}};
  const matrix y = std::move(x);
  CHECK_THROWS_AS(x.begin(), dp::error);  // NOLINT: the use is under test
  CHECK(std::ranges::min(y) == 1);
}

TEST_CASE("comparisons of tensors stay elementwise", "[tensor][range]") {
  const matrix x{{3, 1, 2}, {6, 5, 4}};
  const dp::tensor equal = x == x;
  const dp::tensor less = x < x.view();
  CHECK(std::ranges::all_of(equal, std::identity{}));
  CHECK(std::ranges::none_of(less, std::identity{}));
}
