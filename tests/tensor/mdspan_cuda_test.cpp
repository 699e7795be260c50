// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/memory/stream.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/mdspan.hpp>
#include <devplace/tensor/wrap.hpp>

#include <cuda_runtime.h>
#include <cuda/std/mdspan>

#include <cstddef>
#include <type_traits>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

namespace {

using device = dp::cuda<0>;
using matrix = cuda::std::mdspan<float, cuda::std::dextents<int, 2>>;
using strided_matrix = cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_stride>;
template <class T>
using device_matrix =
    cuda::std::mdspan<T, cuda::std::dextents<int, 2>, cuda::std::layout_right, dp::device_accessor<T, device>>;

// docs/your_memory.md quotes this kernel and its launch.
template <class M> __global__ void add_indices(M m) {
  const int i = static_cast<int>(blockIdx.x), j = static_cast<int>(threadIdx.x);
  m(i, j) += static_cast<float>(10 * i + j);
}

}  // namespace

TEST_CASE("kernels write the elements of mdspans of device memory", "[tensor][mdspan]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  auto x = dp::full<float, device>(dp::extents<3, 8>{}, 100);
  const auto all = dp::as_mdspan<matrix>(x);
  const auto s = dp::stream<device>::current();
  add_indices<<<3, 8, 0, static_cast<cudaStream_t>(s.native_handle())>>>(all);
  CHECK(cudaGetLastError() == cudaSuccess);
  static_assert(std::is_same_v<decltype(all), const device_matrix<float>>);
  static_assert(!std::is_convertible_v<decltype(all), matrix>);
  const auto part = dp::as_mdspan<strided_matrix>(x.slice(dp::axis<1>{}, 0, 8, 4));
  add_indices<<<3, 2, 0, static_cast<cudaStream_t>(s.native_handle())>>>(part);
  CHECK(cudaGetLastError() == cudaSuccess);

  const auto same = dp::wrap(all);
  static_assert(std::is_same_v<decltype(same)::placement_type, device>);
  const auto y = dp::to<dp::cpu>(same);
  for (std::size_t i = 0; i != 3; ++i)
    for (std::size_t j = 0; j != 8; ++j) {
      const std::size_t added = 10 * i + j + (j % 4 == 0 ? 10 * i + j / 4 : 0);
      CHECK(y(i, j) == 100 + static_cast<float>(added));
    }
  // Const elements, and an mdspan of another library, which has only an address.
  const device_matrix<const float> read = all;
  CHECK(dp::to<dp::cpu>(dp::wrap(read))(2, 7) == y(2, 7));
  CHECK(dp::to<dp::cpu>(dp::wrap<device>(matrix(x.data().get(), 3, 8)))(1, 3) == y(1, 3));
}
