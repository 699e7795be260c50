// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/backend/cuda/runtime.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a failed call of CUDA names the call, the device, CUDA's own text and a remedy", "[backend]") {
  constexpr int nowhere = 63;  // a place without a device, because some of these errors mark the place's device as lost
  CHECK_NOTHROW(dp::detail::check_cuda(cudaSuccess, "cudaMalloc", nowhere));
  CHECK_THROWS_WITH(
      dp::detail::check_cuda(cudaErrorIllegalAddress, "cudaMemcpy to the host", nowhere),
      ContainsSubstring("devplace: cuda:63: the device is lost to this process since cudaMemcpy to the host on "
                        "cuda:63 failed: an illegal memory access") &&
          ContainsSubstring("cudaErrorIllegalAddress, 700") && ContainsSubstring("compute-sanitizer"));
  CHECK_THROWS_WITH(dp::detail::check_cuda(cudaErrorNoKernelImageForDevice, "cudaLaunchKernelEx", nowhere),
                    ContainsSubstring("CMAKE_CUDA_ARCHITECTURES"));
  CHECK_THROWS_WITH(dp::detail::check_cuda(cudaErrorUnsupportedPtxVersion, "cudaLaunchKernelEx", nowhere),
                    ContainsSubstring("update the driver"));
  CHECK_THROWS_WITH(dp::detail::check_cuda(cudaErrorECCUncorrectable, "cudaDeviceSynchronize", nowhere - 1),
                    ContainsSubstring("hardware fault"));
  CHECK_THROWS_AS(dp::detail::check_cuda(cudaErrorMemoryAllocation, "cudaMalloc", nowhere), dp::out_of_memory);
  CHECK_THROWS_AS(dp::detail::check_cuda(cudaErrorInvalidValue, "cudaMalloc", nowhere), dp::error);
}

TEST_CASE("a device that does not exist is refused with the reason", "[backend]") {
  const int count = dp::detail::cuda_devices().count;
  CHECK(count >= 0);
  CHECK_THROWS_AS(dp::detail::cuda_visible_device(count), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::detail::cuda_visible_device(-1), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::detail::cuda_device_guard(count), dp::placement_unavailable);
  const std::string reason = dp::detail::why_no_cuda_device(count);
  CHECK_THAT(reason, ContainsSubstring("cuda:" + std::to_string(count)));
  CHECK_THAT(reason, ContainsSubstring("driver") || ContainsSubstring("CUDA_VISIBLE_DEVICES"));
  for (int ordinal = 0; ordinal < count; ++ordinal) CHECK(dp::detail::why_no_cuda_device(ordinal).empty());
}

TEST_CASE("the guard restores the current device", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const int last = dp::detail::cuda_devices().count - 1;
  int current = -1;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  {
    const dp::detail::cuda_device_guard guard(last);
    REQUIRE(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == last);
  }
  REQUIRE(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 0);
}
