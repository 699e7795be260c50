// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/memory.hpp>

#include <set>
#include <string>
#include <vector>

#include "memory/pinned_case.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("pinned memory is taken for every device, in the context of a device that has one", "[backend][pinned]") {
  mock::set_devices(4);
  const auto a = dp::to<dp::on<dp::cuda<3>>>(support::counted<float>(dp::extents<3>{}));
  mock::clear_calls();
  {
    const auto staging = dp::to<dp::on<dp::pinned>>(a);
  }
  CHECK(mock::calls().front() == "cudaHostAlloc device 3 12 bytes");
  CHECK(mock::contexts() == std::set<int>{3});
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("pinned memory is taken in the context of cuda<0>'s device if no device has one", "[backend][pinned]") {
  dp::set_device_map({{0, 1}});
  {
    const dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> a{1, 2, 3};
    CHECK(mock::calls() == std::vector<std::string>{"cudaGetDeviceCount device 0", "cudaHostAlloc device 1 12 bytes"});
    CHECK(mock::live_pinned() == 1);
  }
  CHECK(mock::live_pinned() == 0);
  int current = -1;
  cudaGetDevice(&current);
  CHECK(current == 1);
  CHECK(mock::contexts() == std::set<int>{1});
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("failing to lock pages is an error with sizes and remedies", "[backend][pinned]") {
  const dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> a{1, 2, 3};
  mock::fail("cudaHostAlloc", cudaErrorMemoryAllocation);
  try {
    const auto b = a.clone();
    FAIL("there was memory");
  } catch (const dp::out_of_memory& problem) {
    const std::string text = problem.what();
    CHECK_THAT(text, ContainsSubstring("pinned: 12 bytes (12 B) could not be allocated while 12 bytes are in use"));
    CHECK_THAT(text, ContainsSubstring("cannot lock more pages") && ContainsSubstring("cudaErrorMemoryAllocation, 2"));
    CHECK_THAT(text, ContainsSubstring("Use fewer or smaller pinned tensors") && ContainsSubstring("ulimit -l"));
    CHECK_THAT(text, !ContainsSubstring("batch"));
  }
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(dp::memory_statistics<dp::pinned>().allocated == 12);
  CHECK_NOTHROW(a.clone());
}

TEST_CASE("without a driver there is no pinned memory", "[backend][pinned]") {
  mock::remove_driver();
  CHECK_FALSE(dp::available<dp::on<dp::pinned>>());
  using tensor = dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>>;
  CHECK_THROWS_AS(tensor(dp::extents<3>{}), dp::placement_unavailable);
  CHECK_THROWS_WITH(tensor(dp::extents<3>{}), ContainsSubstring("needs an NVIDIA driver"));
}
