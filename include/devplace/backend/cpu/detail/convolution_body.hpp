// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only.

#include <devplace/backend/cpu/detail/convolution_patches_body.hpp>

#include <devplace/backend/cpu/detail/convolution_tiles_body.hpp>

#include <devplace/backend/cpu/detail/convolution_direct_body.hpp>

#include <devplace/backend/cpu/detail/convolution_phases_body.hpp>

#include <devplace/backend/cpu/detail/convolution_depthwise_body.hpp>

// Functions that write what vectors of AVX-512 read soon afterwards are not `narrow`: a load of 64 bytes would wait for
// the stores of its halves.

/// Returns the table of convolution_kernels_of for one instruction set, whose `code` selects the namespace.
template <class T> constexpr convolution_kernels<T> convolution_kernel_table(code) {
  using sum_type = computed_t<T>;
  convolution_kernels<T> kernels{code::gemm<sum_type>(),
                                 pack,
                                 copy_run,
                                 copy_run,
                                 fill_run<sum_type>,
                                 pack_patches<sum_type, T>,
                                 unfold_row<sum_type, T>,
                                 narrow::fold_row<sum_type>,
                                 sum_run<T>,
                                 copy_segment<sum_type, T>,
                                 narrow::store_turned<sum_type>,
                                 nullptr,
                                 direct_tiles_of<sum_type>,
                                 direct_widths,
                                 copy_phases<sum_type, T>,
                                 copy_gradient<sum_type, T>,
                                 narrow::join_phases<sum_type>,
                                 copy_rows<T, sum_type>,
                                 tap_sums<sum_type>,
                                 tap_products_of<sum_type>};
  if constexpr (!std::is_same_v<T, sum_type>) kernels.store_rounded = narrow::store_rounded<T>;
  return kernels;
}
