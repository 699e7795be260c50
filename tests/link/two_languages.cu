// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/two_languages.hpp"

namespace dp = devplace;

void add_bias_and_relu(device_matrix& x, float bias) { x = dp::relu(x + bias); }

// Without a device, no other program links cuBLASLt.
device_square with_itself(const device_matrix& x) { return dp::matmul(x, dp::transposed(x)); }

host_matrix plus_one(const host_matrix& x) { return host_matrix(x + 1.0f); }

device_matrix zeros_on_device() { return dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{}); }

device_model make_model() { return device_model{dp::seed{3}}; }

std::vector<float> cpu_losses_from_cuda() { return training::losses<dp::on<dp::cpu>>(); }
