// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include <devplace/ops/concat.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/matrix_parts.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/take_along.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/transposed.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

// Functions that move, repeat, join and choose elements, on a place, against index formulas on the host.
namespace devplace::test {

// For each function along an axis of n elements.
namespace from {
/// Positions along an axis from which the elements of a result come; `padded` stands for the value 7.
using positions = std::vector<std::size_t>;
inline constexpr std::size_t padded = std::numeric_limits<std::size_t>::max();

inline positions positions_of(std::size_t count, const std::function<std::size_t(std::size_t)>& position) {
  positions result;
  for (std::size_t j = 0; j != count; ++j) result.push_back(position(j));
  return result;
}
inline positions flipped(std::size_t n) {
  return positions_of(n, [n](std::size_t j) { return n - 1 - j; });
}
inline positions rolled(std::size_t n, std::int64_t shift) {
  return positions_of(n, [n, shift](std::size_t j) {
    std::int64_t position = static_cast<std::int64_t>(j) - shift;
    while (position < 0) position += static_cast<std::int64_t>(n);
    return static_cast<std::size_t>(position) % n;
  });
}
inline positions repeated(std::size_t n, std::size_t times) {
  return positions_of(n * times, [times](std::size_t j) { return j / times; });
}
inline positions tiled(std::size_t n, std::size_t times) {
  return positions_of(n * times, [n](std::size_t j) { return j % n; });
}
inline positions padded_by_value(std::size_t n) {  // 2 before, 1 after
  return positions_of(n + 3, [n](std::size_t j) { return j < 2 || j >= n + 2 ? padded : j - 2; });
}
inline positions padded_by_edges(std::size_t n) {  // 2 before, 3 after
  return positions_of(n + 5, [n](std::size_t j) { return j < 2 ? 0 : std::min(j - 2, n - 1); });
}
inline positions padded_by_reflection(std::size_t n) {  // 2 before, 2 after
  return positions_of(n + 4, [n](std::size_t j) { return j < 2 ? 2 - j : j < n + 2 ? j - 2 : n - 2 - (j - n - 2); });
}
inline positions joined_with_flipped(std::size_t n) {
  return positions_of(3 * n, [n](std::size_t j) { return j / n == 1 ? 2 * n - 1 - j : j % n; });
}
}  // namespace from

/// The elements of an array [outer, n, inner] of numbers 0, 1, 2, ... at these positions along the axis.
template <class T> std::vector<T> elements_at(const detail::reduction_extents& s, const from::positions& positions) {
  std::vector<T> values;
  for (std::size_t o = 0; o < s.outer; ++o)
    for (const std::size_t j : positions)
      for (std::size_t i = 0; i < s.inner; ++i)
        values.push_back(j == from::padded ? T{7} : static_cast<T>((o * s.count + j) * s.inner + i));
  return values;
}

/// Indices 1, n - 1, 0, 1, 1, ... that differ between lanes.
inline std::vector<std::int64_t> indices_of_lanes(const detail::reduction_extents& s, std::size_t count) {
  std::vector<std::int64_t> indices;
  for (std::size_t o = 0; o < s.outer; ++o)
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < s.inner; ++i)
        indices.push_back(static_cast<std::int64_t>((o + 2 * j * j + i + 1) % s.count));
  return indices;
}

/// Compares every function along axis N of a 3x4x5 array with numbers 0, 1, 2, ...
template <class T, class Where, std::size_t N> void test_functions_along() {
  const auto x = to<Where>(support::counted<T>(extents<3, 4, 5>{}));
  const detail::reduction_extents s = detail::around_axis<N>(x.extents());
  const std::size_t n = s.count;
  const axis<N> along{};

  CHECK(support::values_of(flip(x, along)) == elements_at<T>(s, from::flipped(n)));
  for (const std::int64_t shift : {-9, -1, 0, 1, 2, 17})
    CHECK(support::values_of(roll(x, along, shift)) == elements_at<T>(s, from::rolled(n, shift)));
  for (const std::size_t times : {0U, 1U, 3U}) {
    CHECK(support::values_of(repeat(x, along, times)) == elements_at<T>(s, from::repeated(n, times)));
    CHECK(support::values_of(tile(x, along, times)) == elements_at<T>(s, from::tiled(n, times)));
  }
  CHECK(support::values_of(pad(x, along, {.before = 2, .after = 1, .value = 7})) ==
        elements_at<T>(s, from::padded_by_value(n)));
  CHECK(support::values_of(pad(x, along, {.before = 2, .after = 3, .mode = padding_mode::edge})) ==
        elements_at<T>(s, from::padded_by_edges(n)));
  CHECK(support::values_of(pad(x, along, {.before = 2, .after = 2, .mode = padding_mode::reflect})) ==
        elements_at<T>(s, from::padded_by_reflection(n)));

  const auto wider = concat(along, x, flip(x, along), x);
  static_assert(decltype(wider)::extents_type::static_extent(N) == 3 * decltype(x)::extents_type::static_extent(N));
  CHECK(support::values_of(wider) == elements_at<T>(s, from::joined_with_flipped(n)));
  const auto [head, tail] = split_at(wider, along, 1);
  CHECK(head.extent(N) == 1);
  CHECK(tail.extent(N) == 3 * n - 1);
  CHECK(support::values_of(concat(along, head, tail)) == support::values_of(wider));

  using indices_type = typename detail::with_axis<extents<3, 4, 5>, N, 6>::type;
  tensor<std::int64_t, indices_type, on<cpu>> chosen(indices_type{});
  const std::vector<std::int64_t> lanes = indices_of_lanes(s, 6);
  std::copy(lanes.begin(), lanes.end(), chosen.data());
  const auto indices = to<Where>(chosen);
  const auto taken = take_along(x, indices, along);
  auto sums = to<Where>(support::counted<T>(extents<3, 4, 5>{}));
  add_along(sums, indices, taken, along);
  std::vector<T> taken_on_host, sums_on_host = elements_at<T>(s, from::tiled(n, 1));
  for (std::size_t k = 0; k != lanes.size(); ++k) {
    const std::size_t o = k / (6 * s.inner), i = k % s.inner;
    const std::size_t number = (o * n + static_cast<std::size_t>(lanes[k])) * s.inner + i;
    taken_on_host.push_back(static_cast<T>(number));
    sums_on_host[number] += static_cast<T>(number);
  }
  CHECK(support::values_of(taken) == taken_on_host);
  CHECK(support::values_of(sums) == sums_on_host);
}

/// Every function of T along the axis in the middle; along the first and last axis, with float. The extents around the
/// axis are numbers at run time, so one element type has all cases.
template <class T, class Where> void test_rearrangements() {
  test_functions_along<T, Where, 1>();
  if constexpr (std::is_same_v<T, float>) {
    test_functions_along<T, Where, 0>();
    test_functions_along<T, Where, 2>();
  }
  const auto x = to<Where>(support::counted<T>(extents<2, 3>{}));
  CHECK(support::values_of(stack(axis<0>{}, x, x)) == std::vector<T>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(support::values_of(stack(axis<1>{}, x, x)) == std::vector<T>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(support::values_of(stack(axis<2>{}, x, x)) == std::vector<T>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  CHECK(support::values_of(flip(transposed(x), axis<0>{})) == std::vector<T>{2, 5, 1, 4, 0, 3});
  CHECK(support::values_of(concat(axis<1>{}, transposed(x), transposed(x))) ==
        std::vector<T>{0, 3, 0, 3, 1, 4, 1, 4, 2, 5, 2, 5});
}

/// Compares operations on reversed views with the same operations on reversed copies.
template <class T, class Where> void test_reversed_views() {
  const auto equal = [](const auto& a, const auto& b) { return support::values_of(a) == support::values_of(b); };
  const axis<0> rows{};
  const axis<1> columns{};
  const auto x = to<Where>(support::counted<T>(extents<5, 6>{}));
  const auto y = to<Where>(support::counted<T>(extents<6, 5>{}));
  const tensor square = x + x;
  const auto up = flip(x, rows), left = flip(x, columns), both = flip(left, rows);
  CHECK(reversed(x, columns).strides() == std::array<std::ptrdiff_t, 2>{6, -1});
  CHECK(equal(to<Where>(reversed(x, rows)), up));
  CHECK(equal(to<on<cpu>>(reversed(x, columns)), left));  // between places
  CHECK(equal(to<Where>(reversed(reversed(x, rows), columns)), both));
  CHECK(equal(to<Where>(reversed(reversed(x, rows), rows)), x));
  CHECK(equal(to<Where>(reversed(x, rows).slice(rows, 1, 4, 2)), to<Where>(up.slice(rows, 1, 4, 2))));
  CHECK(equal(to<Where>(reversed(x, columns).select(columns, 1)), to<Where>(left.select(columns, 1))));
  CHECK(equal(to<Where>(reversed(transposed(x), columns)), flip(to<Where>(transposed(x)), columns)));
  CHECK(equal(to<Where>(reversed(reversed(x, rows), columns).reshape(extents<3, 10>{})),
              to<Where>(both.reshape(extents<3, 10>{}))));
  CHECK(equal(to<Where>(reversed(x.slice(0, 0), rows)), x.slice(0, 0)));

  // Destinations; those that share memory with an operand are written as if the operand were read before.
  tensor z = x + x;
  z = reversed(x, rows) + reversed(square, columns);
  CHECK(equal(z, tensor(up + flip(square, columns))));
  reversed(z, rows) = reversed(x, columns) * x[0];
  CHECK(equal(z, flip(tensor(left * x[0]), rows)));
  copy(z, x);
  copy(reversed(z, columns), z);
  CHECK(equal(z, left));
  z = reversed(z, rows) + x;
  CHECK(equal(z, tensor(both + x)));
  copy(z, x);
  const auto top = z.slice(0, 3), bottom = z.slice(2, 5);
  reversed(top, rows) = reversed(bottom, rows) + T{1};
  CHECK(equal(z.slice(0, 3), tensor(x.slice(2, 5) + T{1})));
  copy(z, x);
  const auto backwards = reversed(z, columns);
  backwards = backwards + backwards;
  CHECK(equal(z, square));
  fill(reversed(z, rows).slice(0, 1), T{7});
  CHECK(equal(z[4], full<T, Where>(extents<6>{}, T{7})));
  CHECK(equal(z[3], square[3]));

  // Operations that need other layouts copy.
  CHECK(equal(sum(reversed(x, rows), rows), sum(x, rows)));
  CHECK(equal(sum(reversed(x, rows), columns), flip(sum(x, columns), rows)));
  CHECK(equal(argmax(reversed(x, columns), columns), argmax(left, columns)));
  CHECK(equal(concat(rows, reversed(x, rows), x), concat(rows, up, x)));
  CHECK(equal(roll(reversed(x, columns), columns, 1), roll(left, columns, 1)));
  CHECK(equal(tril(reversed(x, rows)), tril(up)));
  CHECK(equal(diag(reversed(x, rows)), diag(up)));
  if constexpr (std::is_floating_point_v<T>) {
    CHECK(equal(matmul(reversed(x, rows), reversed(y, columns)), matmul(up, flip(y, columns))));
    CHECK(equal(matmul(reversed(x, columns), transposed(reversed(x, rows))), matmul(left, transposed(up))));
    auto product = full<T, Where>(extents<5, 5>{}, T{});
    matmul_into(reversed(product, rows), x, y);
    CHECK(equal(product, flip(matmul(x, y), rows)));
    const auto many = to<Where>(support::counted<T>(extents<3, 2, 4>{}));
    const auto by = to<Where>(support::counted<T>(extents<4, 2>{}));
    CHECK(equal(matmul(reversed(many, rows), by), flip(matmul(many, by), rows)));
    CHECK_THROWS_AS(matmul_into(reversed(product, rows), product, reversed(product, columns)), argument_error);
  }
}

template <class T, class Where> void test_parts_of_matrices() {
  const auto x = to<Where>(support::counted<T>(extents<3, 4>{}));  // 0 to 11
  CHECK(support::values_of(tril(x)) == std::vector<T>{0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0});
  CHECK(support::values_of(tril(x, 1)) == std::vector<T>{0, 1, 0, 0, 4, 5, 6, 0, 8, 9, 10, 11});
  CHECK(support::values_of(tril(x, -1)) == std::vector<T>{0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0});
  CHECK(support::values_of(triu(x)) == std::vector<T>{0, 1, 2, 3, 0, 5, 6, 7, 0, 0, 10, 11});
  CHECK(support::values_of(triu(x, 2)) == std::vector<T>{0, 0, 2, 3, 0, 0, 0, 7, 0, 0, 0, 0});
  CHECK(support::values_of(triu(x, -1)) == std::vector<T>{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11});
  const auto matrices = to<Where>(support::counted<T>(extents<2, 2, 2>{}));
  CHECK(support::values_of(tril(matrices)) == std::vector<T>{0, 0, 2, 3, 4, 0, 6, 7});
  CHECK(support::values_of(diag(x)) == std::vector<T>{0, 5, 10});
  CHECK(support::values_of(diag(transposed(x))) == std::vector<T>{0, 5, 10});
  CHECK(support::values_of(diag(x[1].slice(1, 3))) == std::vector<T>{5, 0, 0, 6});
  CHECK(support::values_of(outer(x[1].slice(0, 2), x[0].slice(1, 4))) == std::vector<T>{4, 8, 12, 5, 10, 15});
}

}  // namespace devplace::test
