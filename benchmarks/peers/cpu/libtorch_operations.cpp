// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work of operations_bench.cpp in LibTorch, which multiplies by MKL: results are written into existing tensors, and
// nothing is recorded for gradients.

#include <cstdint>
#include <string>

#include <ATen/ops/_fused_adam.h>
#include <torch/torch.h>

#include "support/product_shape.hpp"
#include "support/questions.hpp"
#include "support/timing.hpp"

namespace {

using devplace::bench::time_of;
using torch::Tensor;

Tensor numbers(std::int64_t rows, std::int64_t columns, torch::Dtype type = torch::kFloat) {
  return torch::rand({rows, columns}, type) * 2 - 1;
}

double product(const devplace::bench::product_shape& s) {
  const auto type = s.type == "double" ? torch::kDouble : torch::kFloat;
  const auto m = static_cast<std::int64_t>(s.m), n = static_cast<std::int64_t>(s.n), k = static_cast<std::int64_t>(s.k);
  const Tensor a = s.transpose_a ? numbers(k, m, type).t() : numbers(m, k, type);
  const Tensor b = s.transpose_b ? numbers(n, k, type).t() : numbers(k, n, type);
  Tensor c = torch::empty({m, n}, type);
  return time_of([&] { at::mm_out(c, a, b); });
}

double softmax(const devplace::bench::row_shape& s) {
  const Tensor x = numbers(static_cast<std::int64_t>(s.rows), static_cast<std::int64_t>(s.columns));
  Tensor y = torch::empty_like(x);
  return time_of([&] { at::_softmax_out(y, x, 1, false); });
}

double cross_entropy(const devplace::bench::row_shape& s) {
  const auto rows = static_cast<std::int64_t>(s.rows), classes = static_cast<std::int64_t>(s.columns);
  const Tensor x = numbers(rows, classes), labels = torch::arange(rows) % classes, one = torch::full({}, 1.0F);
  Tensor logs = torch::empty_like(x), dlogs = torch::empty_like(x), dx = torch::empty_like(x);
  Tensor loss = torch::empty({}), weight = torch::empty({});
  return time_of([&] {
    at::_log_softmax_out(logs, x, 1, false);
    at::nll_loss_forward_out(loss, weight, logs, labels, {}, at::Reduction::Sum, -100);
    at::nll_loss_backward_out(dlogs, one, logs, labels, {}, at::Reduction::Sum, -100, weight);
    at::_log_softmax_backward_data_out(dx, dlogs, logs, 1, torch::kFloat);
  });
}

double chain(std::int64_t n) {
  const Tensor a = numbers(1, n), b = numbers(1, n), c = numbers(1, n), d = numbers(1, n), e = numbers(1, n);
  Tensor y = torch::empty_like(a);
  return time_of([&] {
    at::addcmul_out(y, c, a, b);
    y.clamp_min_(0).mul_(d).sub_(e);
  });
}

double sum(std::int64_t n) {
  const Tensor a = numbers(1, n);
  return time_of([&] { static_cast<void>(a.sum().item<float>()); });
}

double argmax(const devplace::bench::row_shape& s) {
  const Tensor x = numbers(static_cast<std::int64_t>(s.rows), static_cast<std::int64_t>(s.columns));
  Tensor positions = torch::empty({x.size(0)}, torch::kLong);
  return time_of([&] { at::argmax_out(positions, x, 1); });
}

double transposed(const devplace::bench::row_shape& s) {
  const Tensor x = numbers(static_cast<std::int64_t>(s.rows), static_cast<std::int64_t>(s.columns));
  Tensor y = torch::empty({x.size(1), x.size(0)});
  return time_of([&] { y.copy_(x.t()); });
}

double normal(std::int64_t n) {
  Tensor x = numbers(1, n);
  return time_of([&] { x.normal_(); });
}

double update(std::int64_t n) {
  const Tensor parameters = numbers(1, n), gradients = numbers(1, n), first = torch::zeros({1, n}),
               second = torch::zeros({1, n}), step = torch::zeros({});
  return time_of([&] {
    step.add_(1);
    at::_fused_adam_({parameters}, {gradients}, {first}, {second}, {}, {step}, 1e-3, 0.9, 0.999, 0.0, 1e-8, false,
                     false);
  });
}

double copy(std::int64_t n) {
  const Tensor a = numbers(1, n), b = numbers(1, n);
  return time_of([&] { b.copy_(a); });
}

double measure(const std::string& what, const std::string& of) {
  if (what == "product") return product(devplace::bench::product_shape(of));
  if (what == "softmax") return softmax(devplace::bench::row_shape(of));
  if (what == "cross_entropy") return cross_entropy(devplace::bench::row_shape(of));
  if (what == "chain") return chain(std::stol(of));
  if (what == "sum") return sum(std::stol(of));
  if (what == "argmax") return argmax(devplace::bench::row_shape(of));
  if (what == "transposed") return transposed(devplace::bench::row_shape(of));
  if (what == "normal") return normal(std::stol(of));
  if (what == "update") return update(std::stol(of));
  if (what == "copy") return copy(std::stol(of));
  return devplace::bench::not_done;
}

}  // namespace

int main() {
  const c10::InferenceMode inference;
  devplace::bench::answer_questions(torch::set_num_threads, measure);
}
