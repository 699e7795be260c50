// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "link/training.hpp"

/// Functions compiled by nvcc and called from code compiled by g++. Owners and views are passed in both directions.
using device_matrix = devplace::tensor<float, devplace::extents<2, 3>, devplace::on<devplace::cuda<0>>>;
using device_square = devplace::tensor<float, devplace::extents<2, 2>, devplace::on<devplace::cuda<0>>>;
using host_matrix = devplace::tensor<float, devplace::extents<2, 3>, devplace::on<devplace::cpu>>;
using device_model = devplace::model<training::net, devplace::on<devplace::cuda<0>>>;

void add_bias_and_relu(device_matrix& x, float bias);
device_square with_itself(const device_matrix& x);
host_matrix plus_one(const host_matrix& x);
device_matrix zeros_on_device();
device_model make_model();
std::vector<float> cpu_losses_from_cuda();
