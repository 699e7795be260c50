// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "support/software_gpu/software_gpu.hpp"

// Kernels of programs that nvcc compiles run on the GPU in software: the mock of CUDA's runtime finds their PTX in the
// programs. Compile with `--no-compress` and, for example, `-gencode arch=compute_90,code=compute_90`.

namespace devplace::test::mock_cuda {

/// Returns the GPU that executes the kernels of all devices, with its counters.
software_gpu::gpu& gpu_of_kernels();

/// Returns the violations that the GPU has reported since the start.
const std::vector<std::string>& violations_of_kernels();

}  // namespace devplace::test::mock_cuda
