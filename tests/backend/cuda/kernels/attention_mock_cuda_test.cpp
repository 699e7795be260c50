// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/backend/cuda/kernels/attention_tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "support/attention_loops.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::test::attention_loops;

namespace {

using software_gpu_order = devplace::test::software_gpu::execution_order;

/// Returns the results of the kernels for T.
template <unsigned Columns, class T>
auto results_of_kernels(const attention_loops& loops, software_gpu_order order = software_gpu_order::random) {
  const dp::detail::attention_shape& shape = loops.shape;
  dp::test::attention_results<T, mock::pinned_allocator<T>> found(loops);
  const auto launch = [order](std::size_t blocks, const auto& kernel) {  // fewer blocks than tiles
    mock::run_kernel(std::min<std::size_t>(blocks, 2), kernel, 1, order);
  };
  dp::detail::launch_attention<Columns>(found.forward, launch);
  const dp::detail::attention_products<T> products{shape, found.results.data(), found.dresults.data(),
                                                   found.products.data()};
  for (std::size_t i = 0; i < shape.sequences() * shape.length; ++i) products(i);
  dp::detail::launch_attention_gradient<Columns>(found.backward, launch);
  return found;
}

template <unsigned Columns, class T>
void require_kernels_agree(const dp::detail::attention_shape& shape, double probability, double tolerance) {
  INFO("length " << shape.length << ", width " << shape.width << ", causal " << shape.causal);
  const attention_loops loops(shape, probability);
  results_of_kernels<Columns, T>(loops).require_agreement(loops, tolerance);
}

/// Requires that the kernels on tensor cores agree with loops on inputs of type T.
template <class T>
void require_tiles_agree(const dp::detail::attention_shape& shape, double probability,
                         software_gpu_order order = software_gpu_order::random) {
  INFO(dp::dtype_name<T>() << ", length " << shape.length << ", width " << shape.width << ", causal " << shape.causal
                           << ", dropout " << probability);
  const attention_loops loops(shape, probability, dp::test::rounded_input<T>);
  const auto require = [&](const auto& found) {
    found.require_agreement_in_16_bits(loops, std::is_same_v<T, dp::half> ? 0x1p-11 : 0x1p-8);
  };
  if (shape.width <= 32)
    require(results_of_kernels<1, T>(loops, order));
  else if (shape.width <= 64)
    require(results_of_kernels<2, T>(loops, order));
  else
    require(results_of_kernels<4, T>(loops, order));
}

}  // namespace

TEST_CASE("the kernels of attention agree with loops", "[cuda]") {
  require_kernels_agree<2, double>({1, 37, 1, 40, false}, 0.25, 1e-12);
  require_kernels_agree<2, double>({1, 70, 1, 33, true}, 0, 1e-12);  // longer than two blocks of keys
  require_kernels_agree<1, float>({2, 33, 2, 5, true}, 0.5, 1e-5);
}

TEST_CASE("the kernels of attention on tensor cores agree with loops", "[cuda]") {
  std::size_t number = 0;
  for (const std::size_t length : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 130u})
    for (const std::size_t width : {8u, 16u, 40u, 64u, 128u}) {
      const dp::detail::attention_shape shape{length < 20 ? 2u : 1u, length, length < 64 ? 2u : 1u, width,
                                              number % 2 == 0};
      const double probability = number % 3 == 0 ? 0.25 : 0;
      if (number++ % 4 < 2)
        require_tiles_agree<dp::bf16>(shape, probability);
      else
        require_tiles_agree<dp::half>(shape, probability);
    }
}

TEST_CASE("the kernels of attention on tensor cores run in any order of blocks and threads", "[cuda]") {
  for (const auto order : {software_gpu_order::forward, software_gpu_order::reverse}) {
    require_tiles_agree<dp::bf16>({1, 70, 2, 40, true}, 0.25, order);
    require_tiles_agree<dp::half>({2, 65, 1, 16, false}, 0, order);
  }
}
