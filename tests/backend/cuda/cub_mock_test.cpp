// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/cub.hpp>

#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Returns CUDA's record of an error as its own, and clears the record, like every call of CUB (cub::Debug). Requests
/// 64 bytes.
cudaError_t like_cub(void* memory, std::size_t& bytes) {
  if (memory == nullptr) bytes = 64;
  return cudaGetLastError();
}

/// Leaves a record like a program that polls a stream and does not clear the answer.
void leave_error(const dp::detail::cuda_scope& device) {
  mock::set_done(false);
  CHECK(cudaStreamQuery(device.stream()) == cudaErrorNotReady);
  mock::set_done(true);
  CHECK(cudaPeekAtLastError() == cudaErrorNotReady);
}

}  // namespace

TEST_CASE("an algorithm of CUB does not fail because of an error that the program left", "[backend][cub]") {
  const dp::detail::cuda_scope device(1);
  leave_error(device);
  std::vector<std::size_t> sizes;
  const auto algorithm = [&](void* memory, std::size_t& bytes) {
    const cudaError_t code = like_cub(memory, bytes);
    sizes.push_back(bytes);
    leave_error(device);
    return code;
  };
  CHECK_NOTHROW(dp::detail::run_cub(device, 1, "the algorithm", algorithm));
  CHECK(sizes == std::vector<std::size_t>{64, 64});
  CHECK(mock::live_blocks() == 0);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("an error of CUB itself is thrown and cleared", "[backend][cub]") {
  const dp::detail::cuda_scope device(0);
  const auto invalid = [](void*, std::size_t&) { return cudaErrorInvalidValue; };
  CHECK_THROWS_WITH(dp::detail::run_cub(device, 0, "the algorithm", invalid),
                    ContainsSubstring("the algorithm on cuda:0 failed"));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an algorithm of CUB throws the error of a lost device, which no call clears", "[backend][cub]") {
  const dp::detail::cuda_scope device(0);
  mock::break_device(0, cudaErrorIllegalAddress);
  CHECK(cudaStreamQuery(device.stream()) == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK_THROWS_AS(dp::detail::run_cub(device, 0, "the algorithm", like_cub), dp::device_lost);
}

TEST_CASE("the mock keeps an error for the thread whose call failed", "[backend][cub]") {
  const dp::detail::cuda_scope device(0);
  std::thread([&] { leave_error(device); }).join();
  CHECK(cudaGetLastError() == cudaSuccess);
}
