// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of single operations on the CPU, and the limits of the processor in the same run.
//
// Answers questions on standard input, one per line; `threads <count>` comes first:
// - `product <type>/<m>x<n>x<k>/<nn, nt or tn>`: a matrix product of float or double;
// - `softmax <rows>x<columns>`, `cross_entropy <rows>x<classes>` (losses and gradient), `argmax <rows>x<columns>` of
//   rows, `transposed <rows>x<columns>`: a copy with the axes exchanged, of float;
// - `chain <n>`: max(a * b + c, 0) * d - e in one assignment; `sum <n>`; `normal <n>`: random numbers;
//   `update <n>`: Adam's, of float;
// - `multiply_add <type>`: seconds of 10^9 floating-point operations at the peak; `bandwidth <n>`: seconds of 10^9
// bytes to and from memory, in arrays of n floats.
// benchmarks/peers/cpu/compare.py asks this program and the peers in turn.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/transposed.hpp>

#include "support/bandwidth.hpp"
#include "support/multiply_add_peak.hpp"
#include "support/product_shape.hpp"
#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;
using matrix_extents = dp::extents<dp::dyn, dp::dyn>;
using vector_extents = dp::extents<dp::dyn>;

namespace {

template <class T> double product(const dp::bench::product_shape& s) {
  const auto matrix = [](std::size_t rows, std::size_t columns, bool transpose) {
    const matrix_extents shape{transpose ? columns : rows, transpose ? rows : columns};
    return dp::uniform<T, on_cpu>(shape, dp::seed{1}, T(-1), T(1));
  };
  const auto a = matrix(s.m, s.k, s.transpose_a), b = matrix(s.k, s.n, s.transpose_b);
  dp::tensor<T, matrix_extents, on_cpu> c(matrix_extents{s.m, s.n});
  if (s.transpose_a) return time_of([&] { dp::matmul_into(c, dp::transposed(a), b); });
  if (s.transpose_b) return time_of([&] { dp::matmul_into(c, a, dp::transposed(b)); });
  return time_of([&] { dp::matmul_into(c, a, b); });
}

auto rows(const dp::bench::row_shape& s) {
  return dp::uniform<float, on_cpu>(matrix_extents{s.rows, s.columns}, dp::seed{1}, -1.0F, 1.0F);
}

double softmax(const dp::bench::row_shape& s) {
  const auto x = rows(s);
  auto y = rows(s);
  return time_of([&] { dp::softmax_into(y, x); });
}

double cross_entropy(const dp::bench::row_shape& s) {
  const auto x = rows(s);
  auto dx = rows(s);
  dp::tensor<float, dp::extents<2>, on_cpu> sums;
  dp::tensor<float, vector_extents, on_cpu> losses(vector_extents{s.rows});
  dp::tensor<std::int64_t, vector_extents, on_cpu> labels(vector_extents{s.rows});
  for (std::size_t i = 0; i < s.rows; ++i) labels(i) = static_cast<std::int64_t>(i % s.columns);
  return time_of([&] { dp::cross_entropy_into(sums, dx, losses, x, labels); });
}

auto numbers(std::size_t n, std::uint64_t seed) {
  return dp::uniform<float, on_cpu>(vector_extents{n}, dp::seed{seed}, -1.0F, 1.0F);
}

double chain(std::size_t n) {
  const auto a = numbers(n, 1), b = numbers(n, 2), c = numbers(n, 3), d = numbers(n, 4), e = numbers(n, 5);
  auto y = numbers(n, 6);
  return time_of([&] { y = dp::maximum(a * b + c, 0.0F) * d - e; });
}

double sum(std::size_t n) {
  const auto a = numbers(n, 1);
  return time_of([&] { static_cast<void>(dp::sum(a)); });
}

double argmax(const dp::bench::row_shape& s) {
  const auto x = rows(s);
  return time_of([&] { static_cast<void>(dp::argmax(x, dp::axis<1>{})); });
}

double transposed(const dp::bench::row_shape& s) {
  const auto x = rows(s);
  dp::tensor<float, matrix_extents, on_cpu> y(matrix_extents{s.columns, s.rows});
  return time_of([&] { dp::copy(y, dp::transposed(x)); });
}

double normal(std::size_t n) {
  auto x = numbers(n, 1);
  return time_of([&] { dp::normal_into(x, dp::seed{1}, 0, 0.0F, 1.0F); });
}

/// Times only the updates of a layer with about n parameters: gradients come from a batch of one sample that is not
/// timed.
double update(std::size_t n) {
  constexpr std::size_t side = 3162;
  if (n != side * (side + 1)) return dp::bench::not_done;
  using net = nn::sequential<nn::linear<side, side>>;
  dp::model<net, on_cpu> model{dp::seed{1}};
  dp::optimizer optimizer{model, dp::optim::adam{}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, side>{1}, dp::seed{2}, -1.0F, 1.0F);
  double taken = 0;
  std::size_t calls = 0;
  for (std::size_t round = 0; round < 12 || taken < 0.05; ++round) {
    auto [y, saved] = model.forward(x);
    auto gradients = model.backward(std::move(saved), nn::output_gradient(std::move(y)));
    const double begin = dp::bench::now();
    optimizer.step(model, std::move(gradients));
    if (round < 2) continue;
    taken += dp::bench::now() - begin;
    ++calls;
  }
  return taken / static_cast<double>(calls);
}

double measure(const std::string& what, const std::string& of) {
  if (what == "product") {
    const dp::bench::product_shape shape(of);
    return shape.type == "double" ? product<double>(shape) : product<float>(shape);
  }
  if (what == "softmax") return softmax(dp::bench::row_shape(of));
  if (what == "cross_entropy") return cross_entropy(dp::bench::row_shape(of));
  if (what == "chain") return chain(std::stoul(of));
  if (what == "sum") return sum(std::stoul(of));
  if (what == "argmax") return argmax(dp::bench::row_shape(of));
  if (what == "transposed") return transposed(dp::bench::row_shape(of));
  if (what == "normal") return normal(std::stoul(of));
  if (what == "update") return update(std::stoul(of));
  if (what == "bandwidth") return 1e9 / dp::bench::bandwidth(std::stoul(of), 0.1);
  if (what == "multiply_add")
    return 1e9 /
           (of == "double" ? dp::bench::multiply_add_peak<double>(0.1) : dp::bench::multiply_add_peak<float>(0.1));
  return dp::bench::not_done;
}

}  // namespace

int main() { dp::bench::answer_questions(dp::set_thread_count, measure); }
