// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/depthwise_convolution.hpp>
#include <devplace/backend/cpu/detail/direct_convolution.hpp>
#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/backend/cpu/detail/mixed_kernels.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// The code of convolutions for each instruction set, in the namespaces of instruction_sets.hpp. Copying converts 16-bit
// images to float; storing converts sums back. 16-bit weights and biases are converted beforehand.
DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

/// The largest number of columns of a weight's gradient that are computed at a time.
template <class T> inline constexpr std::size_t convolution_weight_columns = convolution_block_columns<T> / 2;

/// The functions of the bodies of convolutions (convolution_*_body.hpp) and the register tiles of one instruction set.
template <class T> struct convolution_kernels {
  using sum_type = computed_t<T>;  ///< type of sums, and of the weights and biases read
  using arguments = convolution_arguments<T, sum_type>;
  void (*forward)(const arguments&, std::size_t row_begin, std::size_t row_end, std::size_t begin, std::size_t end,
                  void* buffer);
  void (*mirrored)(const arguments&, std::size_t row_begin, std::size_t row_end, std::size_t begin, std::size_t end,
                   void* buffer);
  void (*input_gradient)(const convolution_input_gradient_arguments<T, sum_type>&, std::size_t group,
                         std::size_t sample, std::size_t begin, std::size_t end, void* buffer);
  void (*weight_gradient)(const convolution_weight_gradient_arguments<T>&, std::size_t group, std::size_t first,
                          std::size_t last, std::size_t begin, std::size_t end, sum_type* sum, sum_type beta,
                          void* buffer);
  sum_type (*sum)(const T*, std::size_t);
  void (*direct)(const arguments&, const direct_convolution&, std::size_t begin, std::size_t end, void* buffer);
  void (*direct_mirrored)(const arguments&, const direct_convolution&, std::size_t begin, std::size_t end,
                          void* buffer);
  void (*direct_weight_gradient)(const convolution_weight_gradient_arguments<T>&, const direct_convolution&,
                                 std::size_t group, std::size_t first, std::size_t last, std::size_t c0,
                                 std::size_t channels, sum_type* sum, sum_type beta, void* buffer);
  void (*depthwise)(const arguments&, const depthwise_convolution&, std::size_t begin, std::size_t end, void* buffer);
  void (*depthwise_input_gradient)(const convolution_input_gradient_arguments<T, sum_type>&,
                                   const depthwise_convolution&, std::size_t begin, std::size_t end, void* buffer);
  void (*depthwise_weight_gradient)(const convolution_weight_gradient_arguments<T>&, const depthwise_convolution&,
                                    std::size_t group, std::size_t first, std::size_t last, sum_type* sum,
                                    sum_type beta, void* buffer);
  std::size_t tile_rows;
  std::size_t tile_columns;
  const unsigned char* direct_widths;

  direct_convolution direct_of(const convolution_shape& s) const {
    return direct_convolution_of(s, tile_columns / 2, sizeof(sum_type), direct_widths);
  }
  depthwise_convolution depthwise_of(const convolution_shape& s) const {
    return depthwise_convolution_of(s, tile_columns / 2, sizeof(sum_type));
  }
};

namespace generic {

#define DEVPLACE_TARGET
#include <devplace/backend/cpu/detail/convolution_body.hpp>
#undef DEVPLACE_TARGET

}  // namespace generic

#if defined(__x86_64__)

namespace avx2 {

  #define DEVPLACE_TARGET __attribute__((target("avx2,fma,f16c")))
  #include <devplace/backend/cpu/detail/convolution_body.hpp>
  #undef DEVPLACE_TARGET

}  // namespace avx2

namespace avx512 {

  #define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")))
  #include <devplace/backend/cpu/detail/convolution_body.hpp>
  #undef DEVPLACE_TARGET

}  // namespace avx512

#endif

template <class T> convolution_kernels<T> convolution_kernels_of(cpu_isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case cpu_isa::avx512:
      return avx512::convolution_kernel_table<T>();
    case cpu_isa::avx2:
      return avx2::convolution_kernel_table<T>();
#endif
    default:
      return generic::convolution_kernel_table<T>();
  }
}
DEVPLACE_COMPILED_APART(convolution_kernels<float> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(convolution_kernels<double> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(convolution_kernels<bf16> convolution_kernels_of(cpu_isa))
DEVPLACE_COMPILED_APART(convolution_kernels<half> convolution_kernels_of(cpu_isa))

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
