// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C++ that links component cuda: creates tensors on the CPU and on cuda<0>, and calls functions in two_languages.cu
// that launch kernels on the tensors. Both files use the same CPU operations. Without a device the program prints
// devplace's error and returns 4 (skipped).

#include "link/two_languages.hpp"

#include <cstdio>
#include <exception>

namespace dp = devplace;

namespace {

int failures = 0;
void check(bool right, const char* what) {
  if (right) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

void on_cpu() {
  const host_matrix a{{1, 2, 3}, {-4, 5, 6}};
  const host_matrix b = plus_one(a);
  const host_matrix c(a + 1.0f);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) check(b(i, j) == a(i, j) + 1 && c(i, j) == b(i, j), "both languages add the same");
  check(training::losses<dp::on<dp::cpu>>() == cpu_losses_from_cuda(), "both languages train the same on the CPU");
}

void on_device() {
  device_matrix x{{1, 2, 3}, {-4, 5, 6}};
  add_bias_and_relu(x, -2);
  const auto y = dp::to<dp::on<dp::cpu>>(x);
  const float expected[2][3] = {{0, 0, 1}, {0, 3, 4}};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      check(y(i, j) == expected[i][j], "the kernel of the CUDA file works on the C++ file's tensor");
  const auto products = dp::to<dp::on<dp::cpu>>(with_itself(x));
  check(products(0, 0) == 1 && products(0, 1) == 4 && products(1, 0) == 4 && products(1, 1) == 25,
        "the CUDA file multiplies the C++ file's tensor");
  device_matrix z = zeros_on_device();
  dp::copy(z, y);
  check(dp::to<dp::on<dp::cpu>>(z)(1, 2) == 4, "the C++ file copies into the CUDA file's tensor");

  const device_model model = make_model();
  const dp::model<training::net, dp::on<dp::cpu>> same{dp::seed{3}};
  dp::tensor<float, dp::extents<8, 6>, dp::on<dp::cpu>> weight{dp::extents<8, 6>{}};
  dp::copy(weight, model.parameter<0>());
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 6; ++j)
      check(weight(i, j) == same.parameter<0>()(i, j), "a model made on the device starts as one on the CPU");
}

}  // namespace

int main() try {
  on_cpu();
  if (failures != 0) return 1;
  on_device();
  return failures == 0 ? 0 : 1;
} catch (const dp::placement_unavailable& missing) {
  std::fprintf(stderr, "error: %s\n", missing.what());
  return 4;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return 1;
}
