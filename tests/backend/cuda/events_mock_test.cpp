// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>
#include <vector>

#include <devplace/backend/cuda/events.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/memory/event.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("events are recorded, waited for and followed on their devices", "[backend]") {
  {
    dp::synchronize<dp::cuda<0>>();
    dp::synchronize<dp::cuda<1>>();
    dp::event<dp::cuda<1>> done;
    mock::set_done(false);
    mock::clear_calls();
    done.record();
    CHECK_FALSE(done.ready());
    CHECK(cudaGetLastError() == cudaSuccess);  // "not ready" is not an error
    done.before<dp::cuda<0>>();
    done.wait();
    CHECK(done.ready());
    CHECK(mock::calls() == std::vector<std::string>{"cudaEventRecord device 1", "cudaEventQuery device 1",
                                                    "cudaStreamWaitEvent device 0", "cudaEventSynchronize device 1",
                                                    "cudaEventQuery device 1"});
  }
  CHECK(mock::live_events() == 0);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("an event of a device that failed throws when it is waited for", "[backend]") {
  dp::event<dp::cuda<0>> done;
  done.record();
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(done.wait(), ContainsSubstring("cudaEventSynchronize on cuda:0") &&
                                     ContainsSubstring("this process cannot use the device any more"));
}

TEST_CASE("a failure to create an event leaks none", "[backend]") {
  mock::fail("cudaEventCreateWithFlags", cudaErrorMemoryAllocation);
  CHECK_THROWS_AS(dp::event<dp::cuda<0>>(), dp::out_of_memory);
  CHECK(mock::live_events() == 0);
}
