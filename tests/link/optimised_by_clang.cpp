// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs vector code that clang has optimised, on rows and arrays at addresses that are not multiples of a vector's
// size. In the other tests, clang does not optimise. Prints the first operation with a wrong result, and otherwise a
// number that depends on the bits of many results; it is the same for every instruction set.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <devplace/core.hpp>
#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/ops/normalize.hpp>

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

struct users_function {
  template <class T> DEVPLACE_HD T operator()(T x) const { return x * x + x / 3; }
};

std::uint64_t checksum = 0;

void add_bits(const float* values, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    checksum = (checksum ^ bits) * 0x100'0000'01B3U;
  }
}

/// Adds the bits of functions of n elements to the checksum.
void add_functions(std::size_t n) {
  using vector = dp::tensor<float, dp::extents<dp::dyn>, dp::on<dp::cpu>>;
  const vector x = dp::normal<float, dp::on<dp::cpu>>(dp::extents<dp::dyn>{n}, dp::seed{3});
  const vector y = dp::normal<float, dp::on<dp::cpu>>(dp::extents<dp::dyn>{n}, dp::seed{4});
  const auto add = [n](const vector& of) { add_bits(of.data(), n); };
  add(dp::gelu(x) * dp::tanh(y) - dp::silu(x) / dp::log(dp::abs(y)));
  add(dp::erf(x) + dp::gelu_tanh(y) * dp::softplus(x) - dp::expm1(y) * dp::sigmoid(x));
  add(dp::map(users_function{}, dp::exp(x)) - y);
  add(dp::nn::gelu::gradient(y, x));
  vector result(x.extents()), further(x.extents());
  dp::softmax_backward_into(result, x, y);
  add(result);
  dp::log_softmax_backward_into(result, x, y);
  add(result);
  dp::detail::run_range(dp::detail::normalize_row<float, true>{result.data(), x.data(), y.data(), x.data(), n, 1e-5}, 0,
                        1);
  add(result);
  dp::detail::run_range(dp::detail::normalize_backward_row<float, true>{result.data(), further.data(), x.data(),
                                                                        y.data(), y.data(), n, 1e-5},
                        0, 1);
  add(result);
  float losses[1];
  dp::detail::run_range(dp::detail::mse_row<float>{result.data(), losses, x.data(), y.data(), n}, 0, 1);
  add_bits(losses, 1);
  using formula = dp::nn::detail::binary_cross_entropy<float, false>;
  dp::detail::run_range(
      dp::detail::pointwise_row<float, formula>{result.data(), losses, x.data(), y.data(), n, formula{}}, 0, 1);
  add_bits(losses, 1);
  add(result);
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
  for (const matrix* of : {&shares, &logarithms, &functions}) add_bits(of->data(), of->size());
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
  for (const std::size_t n : {1U, 31U, 64U, 135U, 513U}) add_functions(n);
  std::printf("%llx\n", static_cast<unsigned long long>(checksum));
}
