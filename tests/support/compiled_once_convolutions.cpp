// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/compiled_once.hpp"

namespace devplace::detail {

template convolution_kernels<float> convolution_kernels_of(cpu_isa);
template convolution_kernels<double> convolution_kernels_of(cpu_isa);
template convolution_kernels<bf16> convolution_kernels_of(cpu_isa);
template convolution_kernels<half> convolution_kernels_of(cpu_isa);

}  // namespace devplace::detail
