// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <devplace/sorting.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

// Tests sorting on every place against brute force on the host.
namespace devplace::test {

using host = on<cpu>;

/// Returns elements with many duplicates, both zeros, infinities, NaNs of both signs, and the extremes of integer
/// types.
template <class T> std::vector<T> mixed_values(std::size_t n) {
  std::vector<T> values(n);
  std::uint64_t state = n;
  for (T& x : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<int>(state >> 33) % 21 - 10;
    if constexpr (floating_element<T>) {
      x = static_cast<T>(number) / 4;
      if (number == 9) x = -T{0};
      if (number == 8) x = std::numeric_limits<T>::quiet_NaN();
      if (number == 7) x = -std::numeric_limits<T>::quiet_NaN();
      if (number == 6) x = std::numeric_limits<T>::infinity();
      if (number == -6) x = -std::numeric_limits<T>::infinity();
      if (number == -5) x = std::numeric_limits<T>::denorm_min();
    } else {
      x = static_cast<T>(number);
      if (number == 9) x = std::numeric_limits<T>::max();
      if (number == -9) x = std::numeric_limits<T>::lowest();
    }
  }
  return values;
}

/// Returns whether a precedes b in ascending order: numbers by value, NaN last.
template <class T> bool less(T a, T b) {
  if (a != a) return false;
  return b != b || a < b;
}

/// Returns the positions after a stable sort of each row.
template <class T>
std::vector<std::int64_t> sorted_positions(const std::vector<T>& x, std::size_t columns, sort_order order) {
  std::vector<std::int64_t> positions(x.size());
  for (std::size_t first = 0; first < x.size(); first += columns) {
    const auto begin = positions.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(columns);
    std::iota(begin, end, 0);
    std::stable_sort(begin, end, [&](std::int64_t a, std::int64_t b) {
      const T of_a = x[first + static_cast<std::size_t>(a)], of_b = x[first + static_cast<std::size_t>(b)];
      return order == sort_order::ascending ? less(of_a, of_b) : less(of_b, of_a);
    });
  }
  return positions;
}

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Returns the first `kept` elements of each row at the given positions.
template <class T>
std::vector<T> taken(const std::vector<T>& x, std::size_t columns, std::size_t kept,
                     const std::vector<std::int64_t>& positions) {
  std::vector<T> result;
  for (std::size_t first = 0; first < x.size(); first += columns)
    for (std::size_t j = 0; j < kept; ++j) result.push_back(x[first + static_cast<std::size_t>(positions[first + j])]);
  return result;
}

template <class Where, class T> auto distribute(const std::vector<T>& values, const dextents<2>& extents) {
  tensor<T, dextents<2>, Where> x(extents);
  support::set_values(x.view(), values);
  return x;
}

template <class Where, class T> void check_sorts(std::size_t rows, std::size_t columns) {
  CAPTURE(rows, columns, dtype_name<T>());
  const std::vector<T> values = mixed_values<T>(rows * columns);
  const auto x = distribute<Where>(values, dextents<2>(rows, columns));
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    const auto positions = sorted_positions(values, columns, order);
    CHECK(support::values_of(argsort(x, order)) == positions);
    CHECK(same_bits(support::values_of(sort(x, order)), taken(values, columns, columns, positions)));
  }
  const auto positions = sorted_positions(values, columns, sort_order::descending);
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, columns / 2, columns}) {
    if (k > columns) continue;
    CAPTURE(k);
    const auto top = top_k(x, k);
    CHECK(top.values.extents() == dextents<2>(rows, k));
    CHECK(same_bits(support::values_of(top.values), taken(values, columns, k, positions)));
    std::vector<std::int64_t> expected;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t j = 0; j < k; ++j) expected.push_back(positions[row * columns + j]);
    CHECK(support::values_of(top.positions) == expected);
  }
}

/// Checks sorts and largest elements of outer x count x inner elements along `count`, which is axis 1.
template <class Where, class T, class Axis>
void check_sorts_along(std::size_t outer, std::size_t count, std::size_t inner, Axis axis) {
  CAPTURE(outer, count, inner, dtype_name<T>());
  const std::vector<T> values = mixed_values<T>(outer * count * inner);
  tensor<T, dextents<3>, Where> x(dextents<3>(outer, count, inner));
  support::set_values(x.view(), values);
  const auto index = [&](std::size_t row, std::size_t k) { return (row / inner * count + k) * inner + row % inner; };
  std::vector<T> rows;
  for (std::size_t row = 0; row < outer * inner; ++row)
    for (std::size_t k = 0; k < count; ++k) rows.push_back(values[index(row, k)]);
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    const auto positions_of_rows = sorted_positions(rows, count, order);
    const std::vector<T> sorted_rows = taken(rows, count, count, positions_of_rows);
    std::vector<std::int64_t> positions(values.size());
    std::vector<T> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      positions[index(i / count, i % count)] = positions_of_rows[i];
      sorted[index(i / count, i % count)] = sorted_rows[i];
    }
    CHECK(support::values_of(argsort(x, axis, order)) == positions);
    CHECK(same_bits(support::values_of(sort(x, axis, order)), sorted));
    if (order == sort_order::ascending) continue;
    for (const std::size_t kept : {std::size_t{0}, count / 3, count}) {
      const auto top = top_k(x, kept, axis);
      CHECK(top.values.extents() == dextents<3>(outer, kept, inner));
      std::vector<T> largest;
      std::vector<std::int64_t> of_largest;
      for (std::size_t i = 0; i < outer * kept * inner; ++i) {
        const std::size_t from = index(i / (kept * inner) * inner + i % inner, i / inner % kept);
        largest.push_back(sorted[from]);
        of_largest.push_back(positions[from]);
      }
      CHECK(same_bits(support::values_of(top.values), largest));
      CHECK(support::values_of(top.positions) == of_largest);
    }
  }
}

template <class Where> void check_all_sorts_along_axes() {
  check_sorts_along<Where, float>(1, 40, 3, 1);
  check_sorts_along<Where, float>(4, 33, 5, axis<1>{});
  check_sorts_along<Where, double>(4, 33, 1, -2);
  check_sorts_along<Where, float>(1, 1, 50, axis<1>{});
  check_sorts_along<Where, std::int32_t>(3, 20, 7, axis<1>{});
  check_sorts_along<Where, std::uint8_t>(3, 0, 7, axis<1>{});
  check_sorts_along<Where, std::int64_t>(0, 3, 7, axis<1>{});
}

template <class Where> void check_all_sorts() {
  const std::size_t shapes[][2] = {{1, 1}, {1, 7}, {1, 1000}, {3, 1}, {5, 33}, {257, 10}, {0, 4}, {4, 0}};
  for (const auto& shape : shapes) {
    check_sorts<Where, float>(shape[0], shape[1]);
    check_sorts<Where, std::uint8_t>(shape[0], shape[1]);
  }
  check_sorts<Where, double>(3, 200);
  check_sorts<Where, std::int32_t>(4, 100);
  check_sorts<Where, std::int64_t>(1, 300);
}

template <class Where, class T> void check_sums(std::size_t n) {
  CAPTURE(n, dtype_name<T>());
  using sum_type = detail::sum_result_t<T>;
  std::vector<T> values(n);
  std::vector<sum_type> expected(n);
  double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = floating_element<T> ? std::sin(static_cast<double>(i)) : static_cast<double>(7 * i % 31);
    values[i] = static_cast<T>(x);
    sum += static_cast<double>(values[i]);
    magnitude += std::fabs(static_cast<double>(values[i]));
    expected[i] = static_cast<sum_type>(sum);
  }
  tensor<T, dextents<1>, Where> x(dextents<1>{n});
  support::set_values(x.view(), values);
  const auto y = cumsum(x);
  const auto sums = support::values_of(y);
  if constexpr (floating_element<T>) {
    double furthest = 0;
    for (std::size_t i = 0; i < n; ++i)
      furthest = std::max(furthest, std::fabs(static_cast<double>(sums[i]) - static_cast<double>(expected[i])));
    CHECK(furthest <= static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + magnitude));
    tensor<T, dextents<1>, host> of_cpu(dextents<1>{n});
    support::set_values(of_cpu.view(), values);
    CHECK(same_bits(sums, support::values_of(cumsum(of_cpu))));
    cumsum_into(x, x);
    CHECK(same_bits(support::values_of(x), sums));
  } else {
    CHECK(sums == expected);
  }
}

template <class Where> void check_all_sums() {
  for (const std::size_t n : {0u, 1u, 31u, 32u, 33u, 1024u, 1025u, 40000u}) {
    check_sums<Where, float>(n);
    check_sums<Where, std::uint8_t>(n);
  }
  check_sums<Where, double>(3000);
  check_sums<Where, std::int32_t>(3000);
  check_sums<Where, std::int64_t>(3000);

  tensor<std::int64_t, dextents<1>, Where> wraps(dextents<1>{2});
  const std::vector<std::int64_t> largest{std::numeric_limits<std::int64_t>::max(), 1};
  support::set_values(wraps.view(), largest);
  cumsum_into(wraps, wraps);
  CHECK(support::values_of(wraps)[1] == std::numeric_limits<std::int64_t>::min());
}

/// Returns x scanned in rows, modulo 2^64, by plain loops.
template <class T> std::vector<std::int64_t> scanned_rows(const std::vector<T>& x, std::size_t columns, bool products) {
  std::vector<std::int64_t> result(x.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i != x.size(); ++i) {
    const auto own = static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i]));
    total = i % columns == 0 ? own : products ? total * own : total + own;
    result[i] = static_cast<std::int64_t>(total);
  }
  return result;
}

/// Integers that wrap around in sums and products of few of them.
template <class T> std::vector<T> large_integers(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i != n; ++i)
    values[i] =
        static_cast<T>(std::numeric_limits<T>::max() / 4 * static_cast<T>(i % 4) + static_cast<T>(2 * i % 31 + 1));
  return values;
}

template <class Where, class T> void check_integer_rows(std::size_t rows, std::size_t columns) {
  CAPTURE(rows, columns, dtype_name<T>());
  const auto values = large_integers<T>(rows * columns);
  tensor<T, dextents<2>, Where> x(dextents<2>{rows, columns});
  support::set_values(x.view(), values);
  CHECK(support::values_of(cumsum(x, axis<1>{})) == scanned_rows(values, columns, false));
  CHECK(support::values_of(cumprod(x, -1)) == scanned_rows(values, columns, true));
  CHECK(support::values_of(cumprod(x.reshape(dextents<1>{rows * columns}))) ==
        scanned_rows(values, rows * columns, true));
  if constexpr (std::is_same_v<T, std::int64_t>) {
    tensor<T, dextents<2>, Where> products(dextents<2>{rows, columns});
    cumprod_into(products, x, axis<1>{});
    CHECK(support::values_of(products) == scanned_rows(values, columns, true));
    cumsum_into(x, x, axis<1>{});
    CHECK(support::values_of(x) == scanned_rows(values, columns, false));
  }
}

template <class Where> void check_all_integer_rows() {
  const std::size_t shapes[][2] = {{1, 40}, {40, 1}, {7, 33}, {3, 2000}, {1000, 5}};
  for (const auto& shape : shapes) check_integer_rows<Where, std::int64_t>(shape[0], shape[1]);
  check_integer_rows<Where, std::int32_t>(9, 300);
  check_integer_rows<Where, std::uint8_t>(9, 300);
}

/// Returns the indices sorted by their Philox keys.
inline std::vector<std::int64_t> order_by_keys(std::size_t n, seed start, std::uint64_t stream) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const detail::random_sequence random(start.value, stream);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return detail::random_key(random, static_cast<std::size_t>(a)) <
           detail::random_key(random, static_cast<std::size_t>(b));
  });
  return order;
}

template <class Where> void check_permutations() {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 15u, 16u, 17u, 1000u, 5000u}) {
    CAPTURE(n);
    tensor<std::int64_t, dextents<1>, Where> order(dextents<1>{n});
    permutation_into(order, seed{3}, 12);
    CHECK(support::values_of(order) == order_by_keys(n, seed{3}, 12));
  }
}

}  // namespace devplace::test
