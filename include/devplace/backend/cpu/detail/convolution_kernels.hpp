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
#define DEVPLACE_CONVOLUTIONS_OF(T)                                                                              \
  DEVPLACE_COMPILED_APART(struct convolution_kernels<T>)                                                         \
  DEVPLACE_COMPILED_APART(void convolution_kernels<T>::convolve_range<false>(                                    \
      const convolution_arguments<T, float>&, std::size_t, std::size_t, std::size_t, std::size_t, void*) const)  \
  DEVPLACE_COMPILED_APART(void convolution_kernels<T>::convolve_range<true>(                                     \
      const convolution_arguments<T, float>&, std::size_t, std::size_t, std::size_t, std::size_t, void*) const)  \
  DEVPLACE_COMPILED_APART(void convolution_kernels<T>::convolve_rows<false>(                                     \
      const convolution_arguments<T, float>&, const direct_convolution&, std::size_t, std::size_t, void*) const) \
  DEVPLACE_COMPILED_APART(void convolution_kernels<T>::convolve_rows<true>(                                      \
      const convolution_arguments<T, float>&, const direct_convolution&, std::size_t, std::size_t, void*) const) \
  DEVPLACE_COMPILED_APART(convolution_kernels<T> convolution_kernels_of(cpu_isa))
DEVPLACE_CONVOLUTIONS_OF(float)
DEVPLACE_CONVOLUTIONS_OF(bf16)
DEVPLACE_CONVOLUTIONS_OF(half)
#undef DEVPLACE_CONVOLUTIONS_OF

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
