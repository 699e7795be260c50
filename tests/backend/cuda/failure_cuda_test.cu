// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A failing kernel makes the device unusable for the process, so ctest runs each of these tests in its own process.

#include <cstddef>
#include <cstdlib>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

struct write_to_unmapped_memory {
  float* to;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] = 1; }
};

void fail() { dp::detail::for_each_index<cuda>(0, 1, 1, write_to_unmapped_memory{reinterpret_cast<float*>(8)}); }

}  // namespace

TEST_CASE("a kernel's failure is reported by the next call, and the device is lost", "[backend][api-error]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const auto memory = dp::detail::allocate<cuda>(0, 64);
  dp::synchronize<dp::cuda<0>>();
  CHECK_NOTHROW(fail());
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring("cudaErrorIllegalAddress") &&
                                                        ContainsSubstring("write_to_unmapped_memory") &&
                                                        ContainsSubstring("cannot use the device any more"));
  CHECK_THROWS_AS(dp::detail::allocate<cuda>(0, 64), dp::error);
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::error);
}

TEST_CASE("with DEVPLACE_SYNC_LAUNCH=1 a kernel's failure is thrown where it was launched", "[backend][api-error]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  REQUIRE(setenv("DEVPLACE_SYNC_LAUNCH", "1", 1) == 0);
  CHECK_THROWS_WITH(fail(), ContainsSubstring("write_to_unmapped_memory"));
}
