// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/convolution_depthwise_blocks.hpp>
#include <devplace/backend/cpu/detail/convolution_direct_blocks.hpp>
#include <devplace/backend/cpu/detail/convolution_patch_blocks.hpp>
#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/backend/cpu/detail/mixed_kernels.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// The code of convolutions for each instruction set, in the namespaces of instruction_sets.hpp. Copying converts 16-bit
// images to float; storing converts sums back. 16-bit weights and biases are converted beforehand.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

#define DEVPLACE_BODY <devplace/backend/cpu/detail/convolution_body.hpp>
#include <devplace/backend/cpu/detail/each_instruction_set_body.hpp>

template <class T> convolution_kernels<T> convolution_kernels_of(cpu_isa isa) {
  return with_instruction_set([](auto code) { return convolution_kernel_table<T>(code); }, isa);
}
DEVPLACE_COMPILED_APART(convolution_kernels<double> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(struct convolution_kernels<float>)
DEVPLACE_COMPILED_APART(struct convolution_kernels<bf16>)
DEVPLACE_COMPILED_APART(struct convolution_kernels<half>)
DEVPLACE_COMPILED_APART(convolution_kernels<float> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(convolution_kernels<bf16> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(convolution_kernels<half> convolution_kernels_of(cpu_isa))

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
