// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <devplace/ops/activations.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/wrap.hpp>

namespace devplace::test {

using host = on<cpu>;

/// Returns the largest difference between two tensors' elements, relative for elements above 1; infinite if only one is
/// NaN.
template <class A, class B> double difference(const A& a, const B& b) {
  const auto x = to<host>(a);
  const auto y = to<host>(b);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto p = static_cast<double>(x.data()[i]), q = static_cast<double>(y.data()[i]);
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double d = std::fabs(p - q) / std::max(1.0, std::fabs(q));
    largest = std::isnan(d) ? INFINITY : std::max(largest, d);
  }
  return largest;
}

/// Returns the difference between a formula's result on a device and on the CPU.
template <class Where, class Formula, class... Operands>
double formula_differs_by(const Formula& formula, const Operands&... operands) {
  const tensor expected = formula(operands...);
  const auto evaluate = [&formula](const auto&... x) {
    tensor result = formula(x...);
    return result;
  };
  return difference(evaluate(to<Where>(operands)...), expected);
}

struct sum_and_product {
  float weight;
  DEVPLACE_HD float operator()(float a, std::int64_t b) const { return weight * (a + static_cast<float>(b)); }
};

/// Compares formulas in which every step is rounded once, so that bits are equal everywhere.
template <class Where> double exact_formulas_differ_by() {
  const auto m = normal<float, host>(extents<dyn, 77>{301}, seed{1});
  const auto n = normal<float, host>(extents<dyn, 77>{301}, seed{2});
  const auto row = normal<float, host>(extents<77>{}, seed{3});
  const auto column = normal<float, host>(extents<dyn, 1>{301}, seed{4});
  const auto block = normal<float, host>(extents<3, 1, 5, 1>{}, seed{5});
  const auto other = normal<float, host>(extents<7, 1, 77>{}, seed{6});
  const auto whole = arange<std::int64_t, host>(77);
  double largest = 0;
  const auto check = [&largest](double d) { largest = std::max(largest, d); };
  check(formula_differs_by<Where>([](auto& a, auto& b) { return (a + b) / (abs(a) + 2.0f); }, m, n));
  check(formula_differs_by<Where>([](auto& a, auto& b) { return relu(a + b); }, m, row));
  check(formula_differs_by<Where>([](auto& a, auto& b) { return maximum(a, b) - minimum(a, b); }, row, column));
  check(formula_differs_by<Where>([](auto& a, auto& b) { return where(a > b, a, -b); }, block, other));
  check(formula_differs_by<Where>([](auto& a, auto& b) { return map(sum_and_product{2}, a, b); }, m, whole));
  check(formula_differs_by<Where>([](auto& a) { return cast<std::uint8_t>(a * 100.0f); }, m));
  check(formula_differs_by<Where>([](auto& a) { return a / (a - 5) + cast<std::int64_t>(a == 5); }, whole));
  check(formula_differs_by<Where>([](auto& a) { return sqrt(abs(cast<double>(a))); }, m));
  return largest;
}

/// Compares formulas with functions of the math library.
template <class Where> double approximate_formulas_differ_by() {
  const auto x = normal<float, host>(extents<1001>{}, seed{1});
  double largest = 0;
  const auto check = [&largest](double d) { largest = std::max(largest, d); };
  check(formula_differs_by<Where>([](auto& a) { return exp(a) + 2.0f * a; }, x));
  check(formula_differs_by<Where>([](auto& a) { return log(abs(a)); }, x));
  check(formula_differs_by<Where>([](auto& a) { return tanh(a) * sigmoid(a); }, x));
  check(formula_differs_by<Where>([](auto& a) { return pow(abs(a), 1.5f); }, x));
  check(formula_differs_by<Where>([](auto& a) { return erf(a) - expm1(a); }, x));
  check(formula_differs_by<Where>([](auto& a) { return gelu(a) - silu(a); }, x));
  check(formula_differs_by<Where>([](auto& a) { return gelu_tanh(a) - softplus(a); }, x));
  return largest;
}

/// Compares assignments, compound assignments, slices and overlapping operands.
template <class Where> double assignments_differ_by() {
  const auto work = [](auto x) {
    x[0] = x[1] + x[2];
    x += x[0];  // overlaps
    x.slice(1, 40) = x.slice(0, 39) * 0.5f;
    x /= 3.0f;
    fill(x[5], 7.0f);
    x.view().erased() -= x.view().erased()[3];
    return x;
  };
  const auto x = normal<float, host>(extents<40, 33>{}, seed{1});
  return difference(work(to<Where>(x)), work(x.clone()));
}

/// Compares random numbers, which must be bitwise equal on every place.
template <class Where> double random_numbers_differ_by() {
  double largest = 0;
  const auto check = [&largest](double d) { largest = std::max(largest, d); };
  const extents<dyn> size{10007};
  check(difference(uniform<float, Where>(size, seed{7}, -2, 3), uniform<float, host>(size, seed{7}, -2, 3)));
  check(difference(uniform<double, Where>(size, seed{7}, -2, 3), uniform<double, host>(size, seed{7}, -2, 3)));
  check(difference(normal<float, Where>(size, seed{8}, 1, 2), normal<float, host>(size, seed{8}, 1, 2)));
  check(difference(normal<double, Where>(size, seed{8}, 1, 2), normal<double, host>(size, seed{8}, 1, 2)));
  check(difference(permutation<Where>(100, seed{9}), permutation(100, seed{9})));
  check(difference(arange<float, Where>(0, 1, 0.003f), arange<float, host>(0, 1, 0.003f)));
  const auto check_dropout = [&check](auto shape) {
    const auto x = normal<float, host>(shape, seed{1});
    auto y = x.clone();
    auto z = to<Where>(x);
    dropout_into(y, y, 0.3, {1, 2, 3}, 1000);
    dropout_into(z, z, 0.3, {1, 2, 3}, 1000);
    check(difference(z, y));
  };
  check_dropout(extents<101, 37>{});
  check_dropout(extents<101, 36>{});
  return largest;
}

/// Compares scaled bytes, which must be bitwise equal on every place.
template <class Where> double scaled_bytes_differ_by() {
  tensor<std::uint8_t, extents<dyn>, host> bytes(extents<dyn>{10007});
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes(i) = static_cast<std::uint8_t>(i * 37 + i / 256);
  const byte_scale<float> scale({}, 0.1307, 0.3081);
  tensor<float, extents<dyn>, host> expected(bytes.extents());
  tensor<float, extents<dyn>, Where> found(bytes.extents());
  scale_bytes_into(expected, bytes, scale);
  scale_bytes_into(found, to<Where>(bytes), scale);
  return difference(found, expected);
}

/// Returns the printed form of a small tensor on a place.
template <class Where> std::string printed() {
  std::ostringstream out;
  const std::vector<float> values{1, 2.5f, -3, 4};
  out << to<Where>(wrap(values, extents<2, 2>{}));
  return out.str();
}

}  // namespace devplace::test
