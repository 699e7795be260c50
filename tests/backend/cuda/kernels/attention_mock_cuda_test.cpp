// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/backend/cuda/kernels/attention_gradient.hpp>

#include <algorithm>
#include <cstddef>

#include "support/attention_loops.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::test::attention_loops;

namespace {

template <unsigned Columns, class T>
void require_kernels_agree(const dp::detail::attention_shape& shape, double probability, double tolerance) {
  INFO("length " << shape.length << ", width " << shape.width << ", causal " << shape.causal);
  const attention_loops loops(shape, probability);
  dp::test::attention_results<T, mock::pinned_allocator<T>> found(loops);
  const auto launch = [](std::size_t blocks, const auto& kernel) {  // fewer blocks than tiles
    mock::run_kernel(std::min<std::size_t>(blocks, 2), kernel);
  };
  dp::detail::launch_attention<Columns>(found.forward, launch);
  const dp::detail::attention_products<T> products{shape, found.results.data(), found.dresults.data(),
                                                   found.products.data()};
  for (std::size_t i = 0; i < shape.sequences() * shape.length; ++i) products(i);
  dp::detail::launch_attention_gradient<Columns>(found.backward, launch);
  found.require_agreement(loops, tolerance);
}

}  // namespace

TEST_CASE("the kernels of attention agree with loops", "[cuda]") {
  require_kernels_agree<2, double>({1, 37, 1, 40, false}, 0.25, 1e-12);
  require_kernels_agree<2, double>({1, 70, 1, 33, true}, 0, 1e-12);  // longer than two blocks of keys
  require_kernels_agree<1, float>({2, 33, 2, 5, true}, 0.5, 1e-5);
}
