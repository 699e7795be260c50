// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of products of square matrices of float, bf16 and half on the CPU, with results of the operands' type.
//
// Answers questions on standard input, one per line: `<type> <size>`; `threads <count>` comes first.
// benchmarks/peers/short_products.py asks this program and PyTorch in turn.

#include <cstddef>
#include <string>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class T> double product(std::size_t size) {
  using shape = dp::extents<dp::dyn, dp::dyn>;
  const auto a = dp::full<T, on_cpu>(shape{size, size}, 0.5F), b = dp::full<T, on_cpu>(shape{size, size}, 0.25F);
  dp::tensor<T, shape, on_cpu> c(shape{size, size});
  return dp::bench::time_of([&] { dp::matmul_into(c, a, b); });
}

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& type, const std::string& size) {
    if (type == "bf16") return product<dp::bf16>(std::stoul(size));
    if (type == "half") return product<dp::half>(std::stoul(size));
    return product<float>(std::stoul(size));
  });
}
