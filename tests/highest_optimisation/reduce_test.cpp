// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/reduce.hpp>

#include <cstddef>
#include <cstdint>

#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"

// Compiled with -O3, at which compilers rearrange integer reductions most.

namespace dp = devplace;
using dp::dyn;

namespace {

template <class T> using matrix = dp::tensor<T, dp::extents<dyn, dyn>, dp::cpu>;

/// Whether sums, maxima and their positions along both axes of a rows x columns matrix are correct.
template <class T> bool reduces(std::size_t rows, std::size_t columns) {
  matrix<T> a(dp::extents<dyn, dyn>{rows, columns}), transposed(dp::extents<dyn, dyn>{columns, rows});
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) transposed(j, i) = a(i, j) = static_cast<T>((j * 7 + i * 3) % 11);
  const dp::axis<0> along_columns;
  const dp::axis<1> along_rows;
  const auto sums = dp::sum(a, along_rows), sums_across = dp::sum(transposed, along_columns);
  const auto largest = dp::max(a, along_rows), largest_across = dp::max(transposed, along_columns);
  const auto positions = dp::argmax(a, along_rows), positions_across = dp::argmax(transposed, along_columns);
  bool right = true;
  long long total = 0;
  for (std::size_t i = 0; i != rows; ++i) {
    long long sum = 0;
    std::size_t position = 0;
    for (std::size_t j = 0; j != columns; ++j) {
      sum += static_cast<long long>(a(i, j));
      if (a(i, j) > a(i, position)) position = j;
    }
    const auto expected = static_cast<std::int64_t>(position);
    right = right && static_cast<long long>(sums(i)) == sum && static_cast<long long>(sums_across(i)) == sum;
    right = right && largest(i) == a(i, position) && largest_across(i) == a(i, position);
    right = right && positions(i) == expected && positions_across(i) == expected;
    total += sum;
  }
  return right && static_cast<long long>(dp::sum(a)()) == total;
}

template <class T> void check_reductions() {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{2}, std::size_t{17}})
    for (std::size_t columns = 1; columns != 130; ++columns) {
      INFO(rows << " x " << columns);
      CHECK(reduces<T>(rows, columns));
    }
}

}  // namespace

TEST_CASE("reductions of integers compiled with -O3 are exact for every length", "[reduce]") {
  check_reductions<std::int32_t>();
  check_reductions<std::int64_t>();
}

TEST_CASE("reductions of floats compiled with -O3 are exact for every length", "[reduce]") {
  check_reductions<float>();
}
