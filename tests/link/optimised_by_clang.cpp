// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs vector code that clang has optimised, on rows and arrays at addresses that are not multiples of a vector's
// size. In the other tests, clang does not optimise. Prints the first operation with a wrong result.

#include <cmath>
#include <cstddef>
#include <cstdio>

#include <devplace/core.hpp>

namespace dp = devplace;
using matrix = dp::tensor<float, dp::extents<dp::dyn, dp::dyn>, dp::on<dp::cpu>>;

namespace {

constexpr dp::axis<0> along_columns;
constexpr dp::axis<1> along_rows;

/// Prints the name of an operation with a wrong result.
bool right(const char* operation, std::size_t columns, double found, double wanted) {
  if (std::abs(found - wanted) <= 1e-5 * (1 + std::abs(wanted))) return true;
  std::printf("%s of rows of %zu: %g instead of %g\n", operation, columns, found, wanted);
  return false;
}

bool reduces(std::size_t rows, std::size_t columns) {
  const matrix x = dp::normal<float, dp::on<dp::cpu>>(dp::extents<dp::dyn, dp::dyn>{rows, columns}, dp::seed{2});
  const auto sums = dp::sum(x, along_rows), largest = dp::max(x, along_rows), smallest = dp::min(x, along_rows);
  const auto columns_of_sums = dp::sum(x, along_columns);
  matrix shares = x.clone(), logarithms = x.clone(), functions = x.clone();
  dp::softmax_into(shares, x);
  dp::log_softmax_into(logarithms, x);
  functions = dp::gelu(x) + dp::tanh(x) * dp::exp(x);
  const matrix products = dp::matmul(x, dp::transposed(x));
  for (std::size_t i = 0; i != rows; ++i) {
    double sum = 0, most = x(i, 0), least = x(i, 0), exponentials = 0, square = 0;
    for (std::size_t j = 0; j != columns; ++j) {
      const double value = x(i, j);
      sum += value;
      most = std::fmax(most, value);
      least = std::fmin(least, value);
      exponentials += std::exp(value);
      square += value * value;
      const double of_value = value * std::erfc(-value / std::sqrt(2.0)) / 2 + std::tanh(value) * std::exp(value);
      if (!right("gelu(x) + tanh(x) * exp(x)", columns, functions(i, j), of_value)) return false;
    }
    if (!right("sum", columns, sums(i), sum) || !right("max", columns, largest(i), most) ||
        !right("min", columns, smallest(i), least) || !right("matmul", columns, products(i, i), square))
      return false;
    const double first = x(i, 0), logarithm = first - std::log(exponentials);
    if (!right("softmax", columns, shares(i, 0), std::exp(logarithm))) return false;
    if (!right("log_softmax", columns, logarithms(i, 0), logarithm)) return false;
  }
  double first_column = 0;
  for (std::size_t i = 0; i != rows; ++i) first_column += x(i, 0);
  return right("sum along columns", columns, columns_of_sums(0), first_column);
}

}  // namespace

int main() {
  for (const std::size_t columns : {1U, 3U, 31U, 33U, 65U, 135U, 513U})
    if (!reduces(9, columns)) return 1;
}
