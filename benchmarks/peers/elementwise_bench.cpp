// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of functions of 32768 floats, which are in the second-level cache, on the CPU.
//
// Answers questions on standard input, one per line, with seconds per call: `of <function>`; `threads <count>` comes
// first. benchmarks/peers/elementwise.py asks this program and PyTorch in turn. DEVPLACE_CPU_ISA selects the
// instruction set.

#include <cstddef>
#include <string>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/activations.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

template <class Short, class X> double seconds_of_short(const std::string& function, const X& x, const X& positive) {
  const dp::tensor a = dp::cast<Short>(x), b = dp::cast<Short>(positive);
  dp::tensor y = a + b;
  dp::tensor floats = dp::cast<float>(a);
  if (function == "add") return time_of([&] { y = a + b; });
  if (function == "exp") return time_of([&] { y = dp::exp(a); });
  if (function == "to") return time_of([&] { y = dp::cast<Short>(x); });
  if (function == "from") return time_of([&] { floats = dp::cast<float>(a); });
  return dp::bench::not_done;
}

double seconds(const std::string& function) {
  constexpr dp::extents<128, 256> rows;
  const auto x = dp::normal<float, on_cpu>(rows, dp::seed{1});
  const dp::tensor positive = dp::abs(x);
  auto y = dp::zeros<float, on_cpu>(rows);
  if (function == "add") return time_of([&] { y = x + positive; });
  if (function == "exp") return time_of([&] { y = dp::exp(x); });
  if (function == "expm1") return time_of([&] { y = dp::expm1(x); });
  if (function == "log") return time_of([&] { y = dp::log(positive); });
  if (function == "tanh") return time_of([&] { y = dp::tanh(x); });
  if (function == "sigmoid") return time_of([&] { y = dp::sigmoid(x); });
  if (function == "erf") return time_of([&] { y = dp::erf(x); });
  if (function == "gelu") return time_of([&] { y = dp::gelu(x); });
  if (function == "gelu_tanh") return time_of([&] { y = dp::gelu_tanh(x); });
  if (function == "silu") return time_of([&] { y = dp::silu(x); });
  if (function == "softplus") return time_of([&] { y = dp::softplus(x); });
  if (function == "leaky_relu") return time_of([&] { y = dp::where(x > 0, x, 0.01f * x); });
  if (function == "elu") return time_of([&] { y = dp::where(x > 0, x, dp::expm1(x)); });
  if (function == "softmax") return time_of([&] { dp::softmax_into(y, x); });
  const std::size_t type = function.find('_');
  const std::string name = function.substr(0, type);
  return function.ends_with("_half") ? seconds_of_short<dp::half>(name, x, positive)
                                     : seconds_of_short<dp::bf16>(name, x, positive);
}

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count,
                              [](const std::string&, const std::string& function) { return seconds(function); });
}
