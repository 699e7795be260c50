// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/check.hpp>

#include <cstdlib>
#include <string>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T> struct scale_kernel {};

void pretend_to_launch(int ordinal) {
  const dp::detail::cuda_scope device(ordinal);
  device.after_launch(dp::detail::kernel_name<scale_kernel<float>>());
}

std::size_t waits() {
  std::size_t count = 0;
  for (const std::string& call : mock::calls()) count += call.rfind("cudaStreamSynchronize", 0) == 0;
  return count;
}

}  // namespace

TEST_CASE("an asynchronous error names the last launched kernel", "[backend]") {
  CHECK_THAT(dp::detail::kernel_name<scale_kernel<float>>(), ContainsSubstring("scale_kernel<float>"));
  pretend_to_launch(0);
  pretend_to_launch(1);
  CHECK(waits() == 0);
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<1>>(), ContainsSubstring("cudaStreamSynchronize on cuda:1 failed") &&
                                                        ContainsSubstring("DEVPLACE_SYNC_LAUNCH=1") &&
                                                        ContainsSubstring("launched on the device is") &&
                                                        ContainsSubstring("scale_kernel<float>."));
}

TEST_CASE("without a launched kernel the error names no kernel", "[backend]") {
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), !ContainsSubstring("The last kernel"));
}

TEST_CASE("with DEVPLACE_SYNC_LAUNCH=1 each launch is synchronised, and its failure thrown there", "[backend]") {
  setenv("DEVPLACE_SYNC_LAUNCH", "1", 1);
  pretend_to_launch(0);
  CHECK(waits() == 1);
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(pretend_to_launch(0), ContainsSubstring("scale_kernel<float>"));
}

TEST_CASE("DEVPLACE_SYNC_LAUNCH is 0, 1 or unset", "[backend]") {
  const auto parsed = [](const char* text) {
    return dp::detail::parse_switch("DEVPLACE_SYNC_LAUNCH", "to wait", text);
  };
  CHECK_FALSE(parsed(nullptr));
  CHECK_FALSE(parsed(""));
  CHECK_FALSE(parsed("0"));
  CHECK(parsed("1"));
  CHECK_THROWS_WITH(parsed("yes"),
                    ContainsSubstring("DEVPLACE_SYNC_LAUNCH is \"yes\"") && ContainsSubstring("or unset it"));
}
