// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/place/device_map.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::detail::cuda_scratch_bytes;
using dp::detail::cuda_scratch_of;

namespace {

template <int I>
std::size_t workspace() {
  return dp::memory_statistics<dp::cuda<I>>().of(dp::memory_purpose::workspace);
}

std::ptrdiff_t allocations() {
  return std::count_if(mock::calls().begin(), mock::calls().end(),
                       [](const std::string& call) { return call.rfind("cudaMallocFromPoolAsync", 0) == 0; });
}

}  // namespace

TEST_CASE("scratch memory of reductions is made once for each place, with tickets of 0", "[backend]") {
  mock::set_devices(3);
  void* const first = cuda_scratch_of(0);
  const auto* tickets = static_cast<const unsigned char*>(first);  // the mock's memory is the host's
  CHECK(std::count(tickets, tickets + dp::detail::cuda_ticket_bytes, 0) ==
        static_cast<std::ptrdiff_t>(dp::detail::cuda_ticket_bytes));
  CHECK(workspace<0>() == cuda_scratch_bytes);
  CHECK(workspace<1>() == 0);
  mock::clear_calls();
  CHECK(cuda_scratch_of(0) == first);
  CHECK(allocations() == 0);  // nothing in the steady state
  CHECK(cuda_scratch_of(1) != first);
  CHECK(workspace<1>() == cuda_scratch_bytes);
  CHECK(workspace<0>() == cuda_scratch_bytes);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("scratch memory that could not be made is tried again", "[backend]") {
  mock::set_devices(3);
  const std::size_t before = mock::live_blocks();
  mock::fail("cudaMallocFromPoolAsync", cudaErrorMemoryAllocation);
  CHECK_THROWS_AS(cuda_scratch_of(2), dp::out_of_memory);
  mock::fail("cudaMemsetAsync", cudaErrorInvalidValue);
  CHECK_THROWS_AS(cuda_scratch_of(2), dp::error);
  CHECK(workspace<2>() == 0);
  CHECK(mock::live_blocks() == before);
  CHECK(cuda_scratch_of(2) != nullptr);
  CHECK(workspace<2>() == cuda_scratch_bytes);
  CHECK(mock::violations() == std::vector<std::string>{});
}
