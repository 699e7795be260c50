// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/tensor.hpp>

void make_in_simulated_file() { devplace::tensor<float, devplace::extents<1>, devplace::on<devplace::cuda<0>>> x{1}; }
