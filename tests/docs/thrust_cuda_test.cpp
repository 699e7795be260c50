// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/cuda.md about Thrust.
#include <devplace/core.hpp>

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;

namespace {

/// Temporary memory for Thrust from the pool of a place, which is freed in the order of the stream.
template <class Place> struct pool_memory {
  using value_type = std::uint8_t;
  std::uint8_t* allocate(std::ptrdiff_t bytes) {
    blocks.emplace_back(dp::extents{bytes});
    return blocks.back().data().get();
  }
  void deallocate(std::uint8_t*, std::size_t) {}
  std::vector<dp::tensor<std::uint8_t, dp::extents<dp::dyn>, Place>> blocks;
};

struct times {
  std::ptrdiff_t stride;
  __host__ __device__ std::ptrdiff_t operator()(std::ptrdiff_t index) const { return index * stride; }
};

/// The elements of a view of one axis, which may have a stride.
template <class View> auto elements_of(const View& x) {
  const auto index = thrust::counting_iterator<std::ptrdiff_t>(0);
  return thrust::make_permutation_iterator(x.data().get(), thrust::make_transform_iterator(index, times{x.stride(0)}));
}

struct scaled_by {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};

}  // namespace

TEST_CASE("docs: algorithms of Thrust", "[docs]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::tensor<float, dp::extents<6>, dp::cuda<0>> keys{3, 1, 2, 6, 5, 4};
  dp::tensor<std::int32_t, dp::extents<6>, dp::cuda<0>> values{0, 1, 2, 3, 4, 5};
  auto x = dp::full<float, dp::cuda<0>>(dp::extents<4, 3>{}, 2);

  pool_memory<dp::cuda<0>> memory;
  const auto stream = static_cast<cudaStream_t>(dp::stream<dp::cuda<0>>::current().native_handle());
  const auto policy = thrust::cuda::par_nosync(memory).on(stream);
  thrust::sort_by_key(policy, keys.data().get(), keys.data().get() + keys.size(), values.data().get());

  auto column = x.select(dp::axis<1>{}, 1);
  const auto first = elements_of(column);
  thrust::transform(policy, first, first + 4, first, scaled_by{10});
  const float sum = thrust::reduce(policy, first, first + 4);  // returns a number, so it waits
  dp::tensor halves = x * 0.5F;                                // after Thrust's work

  CHECK(support::values_of(keys) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(support::values_of(values) == std::vector<std::int32_t>{1, 2, 0, 5, 4, 3});
  CHECK(sum == 80);
  CHECK(support::values_of(halves) == std::vector<float>{1, 10, 1, 1, 10, 1, 1, 10, 1, 1, 10, 1});
}
