// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/workspace.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/device_map.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using use = dp::detail::cuda_reduction_workspace;

namespace {

void* workspace_of(int ordinal) { return dp::detail::cuda_workspace<use>(ordinal, dp::detail::cuda_scope(ordinal)); }

struct of_test {
  static constexpr std::size_t bytes = 256;
};

template <int I> std::size_t workspace() {
  return dp::memory_statistics<dp::cuda<I>>().of(dp::memory_purpose::workspace);
}

}  // namespace

TEST_CASE("the workspace of reductions is made once for each stream, with tickets of 0", "[backend]") {
  mock::set_devices(3);
  void* const first = workspace_of(0);
  const auto* tickets = static_cast<const unsigned char*>(first);  // the mock's device memory is host memory
  CHECK(std::count(tickets, tickets + use::ticket_bytes, 0) == static_cast<std::ptrdiff_t>(use::ticket_bytes));
  CHECK(workspace<0>() == use::bytes);
  CHECK(workspace<1>() == 0);
  mock::clear_calls();
  CHECK(workspace_of(0) == first);
  CHECK(std::none_of(mock::calls().begin(), mock::calls().end(), [](const std::string& call) {
    return call.find("cudaM") == 0;  // the steady state neither allocates nor clears memory
  }));
  CHECK(workspace_of(1) != first);
  CHECK(workspace<1>() == use::bytes);
  CHECK(workspace<0>() == use::bytes);
  const dp::stream<dp::cuda<0>> other;
  {
    const dp::stream_scope on_other(other);
    CHECK(workspace_of(0) != first);  // concurrent streams do not share a workspace
  }
  CHECK(workspace_of(0) == first);
  CHECK(workspace<0>() == 2 * use::bytes);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("a failed allocation of a workspace is retried later", "[backend]") {
  mock::set_devices(3);
  const std::size_t before = mock::live_blocks();
  mock::fail("cudaMallocFromPoolAsync", cudaErrorMemoryAllocation, 1, 2);
  CHECK_THROWS_AS(workspace_of(2), dp::out_of_memory);
  mock::fail("cudaMemsetAsync", cudaErrorInvalidValue);
  CHECK_THROWS_AS(workspace_of(2), dp::error);
  CHECK(workspace<2>() == 0);
  CHECK(mock::live_blocks() == before);
  CHECK(workspace_of(2) != nullptr);
  CHECK(workspace<2>() == use::bytes);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("a thread that makes a workspace does not keep others from theirs while it waits to launch its calls",
          "[backend]") {
  const auto make = [] { return dp::detail::cuda_workspace<of_test>(0, dp::detail::cuda_scope(0)); };
  const auto data = dp::detail::allocate<dp::backend::cuda>(0, 8);
  auto* const bytes = static_cast<char*>(data.data());
  dp::detail::launch_memory memory;
  dp::detail::cuda_repeated_launches::scope step(memory);
  dp::detail::copy_within<dp::backend::cuda>(0, bytes, bytes + 4, 4);
  std::promise<void> locked;
  std::thread other([&] {
    std::future<void*> third;  // waits in its destructor, after the lock
    const std::lock_guard lock(dp::detail::sequence_mutex_of(0));
    locked.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the first thread waits
    third = std::async(std::launch::async, make);
    CHECK(third.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
  });
  locked.get_future().wait();
  CHECK(make() != nullptr);
  other.join();
}
