// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expressions whose loops clang does not vectorise. clang warns of such loops unless the functions that contain them
// disable the warning.

// First, because this header includes the evaluation of expressions before it has declared anything itself.
#include <devplace/tensor/copy.hpp>

#include <devplace/ops/activations.hpp>
#include <devplace/ops/creation.hpp>

namespace dp = devplace;

int main() {
  using on_cpu = dp::on<dp::cpu>;
  auto x = dp::full<double, on_cpu>(dp::extents<dp::dyn>{1000}, 0.5);
  auto h = dp::full<dp::half, on_cpu>(dp::extents<dp::dyn>{1000}, dp::half(0.5F));
  x = dp::tanh(x) * dp::sqrt(dp::exp(x));
  h = dp::silu(h);
  return x(3) > 0 && static_cast<float>(h(3)) > 0 ? 0 : 1;
}
