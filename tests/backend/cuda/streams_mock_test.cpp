// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/streams.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;
using strings = std::vector<std::string>;
using gpu = dp::cuda<1>;
using device = dp::on<gpu>;

namespace {

/// Returns a stream of cuda<1>; its work is recorded with "on side", work of the place's own stream with "on own".
dp::stream<gpu> side_stream() {
  REQUIRE(cudaSetDevice(0) == cudaSuccess);  // the program's device, which every call restores
  mock::name_stream(dp::stream<gpu>::own().native_handle(), "own");
  dp::stream<gpu> made;
  mock::name_stream(made.native_handle(), "side");
  mock::clear_calls();
  return made;
}

int current_device() {
  int current = -1;
  cudaGetDevice(&current);
  return current;
}

}  // namespace

TEST_CASE("work goes to the stream of the innermost scope, and back to the place's own", "[backend][stream]") {
  const auto side = side_stream();
  {
    const auto a = dp::to<device>(support::counted<float>(dp::extents<2>{}));
    CHECK(mock::calls() == strings{"cudaMallocFromPoolAsync device 1 8 bytes on own",
                                   "cudaMemcpyAsync device 1 to device, 8 bytes on own",
                                   "cudaStreamSynchronize device 1 on own"});
    mock::clear_calls();
    const dp::stream_scope outer(side);
    const auto b = a.clone();
    {
      const auto own = dp::stream<gpu>::own();
      const dp::stream_scope inner(own);
      const auto c = a.clone();
    }
    CHECK(support::values_of(b) == std::vector<float>{0, 1});
    CHECK(mock::calls() ==
          strings{"cudaMallocFromPoolAsync device 1 8 bytes on side",
                  "cudaMemcpyAsync device 1 within, 8 bytes on side", "cudaMallocFromPoolAsync device 1 8 bytes on own",
                  "cudaMemcpyAsync device 1 within, 8 bytes on own", "cudaFreeAsync device 1 stream of 1 on own",
                  "cudaMemcpyAsync device 1 to host, 8 bytes on side", "cudaStreamSynchronize device 1 on side"});
    mock::clear_calls();
  }
  // Each is freed in the order of the stream that allocated it; b was destroyed in the scope, a outside.
  CHECK(mock::calls() ==
        strings{"cudaFreeAsync device 1 stream of 1 on side", "cudaFreeAsync device 1 stream of 1 on own"});
  CHECK(mock::live_blocks() == 0);
  CHECK(mock::violations() == strings{});
}

TEST_CASE("a stream_scope affects one place and one thread", "[backend][stream]") {
  const auto side = side_stream();
  dp::synchronize<dp::cuda<0>>();
  mock::clear_calls();
  const dp::stream_scope on(side);
  {
    const dp::tensor<float, dp::extents<2>, dp::on<dp::cuda<0>>> other{dp::extents<2>{}};
  }
  std::thread([] { const dp::tensor<float, dp::extents<2>, device> a{dp::extents<2>{}}; }).join();
  CHECK(mock::calls() == strings{"cudaMallocFromPoolAsync device 0 8 bytes", "cudaFreeAsync device 0 stream of 0",
                                 "cudaMallocFromPoolAsync device 1 8 bytes on own",
                                 "cudaFreeAsync device 1 stream of 1 on own"});
}

TEST_CASE("the current stream belongs to the innermost scope, or is the place's own", "[backend][stream]") {
  const auto side = side_stream();
  const auto own = dp::stream<gpu>::own();
  CHECK(dp::stream<gpu>::current().native_handle() == own.native_handle());
  {
    const dp::stream_scope on(side);
    CHECK(dp::stream<gpu>::current().native_handle() == side.native_handle());
    CHECK(dp::stream<dp::cuda<0>>::current().native_handle() == dp::stream<dp::cuda<0>>::own().native_handle());
  }
  CHECK(dp::stream<gpu>::current().native_handle() == own.native_handle());
  CHECK(own.native_handle() != side.native_handle());
}

TEST_CASE("a scope ends when an exception leaves it", "[backend][stream]") {
  const auto side = side_stream();
  try {
    const dp::stream_scope on(side);
    mock::fail("cudaMallocFromPoolAsync", cudaErrorInvalidValue);
    const dp::tensor<float, dp::extents<2>, device> a{dp::extents<2>{}};
    FAIL("it was allocated");
  } catch (const dp::error&) {
    CHECK(dp::detail::current_stream(1) == nullptr);
    CHECK(current_device() == 0);
  }
}

TEST_CASE("events order streams of a device, and devices", "[backend][stream]") {
  const auto side = side_stream();
  dp::synchronize<dp::cuda<0>>();
  dp::event<gpu> e;
  mock::clear_calls();
  e.record();
  side.wait(e);
  e.record(side);
  e.before<gpu>();
  e.before<dp::cuda<0>>();
  CHECK(mock::calls() == strings{"cudaEventRecord device 1 on own", "cudaStreamWaitEvent device 1 on side",
                                 "cudaEventRecord device 1 on side", "cudaStreamWaitEvent device 1 on own",
                                 "cudaStreamWaitEvent device 0"});
  dp::event<dp::cuda<0>> other;
  other.record();
  mock::clear_calls();
  other.before(side);
  CHECK(mock::calls() == strings{"cudaStreamWaitEvent device 1 on side"});
  CHECK(mock::violations() == strings{});
}

TEST_CASE("memory is freed after the work of all streams that use it", "[backend][stream]") {
  const auto side = side_stream();
  {
    const dp::tensor<float, dp::extents<2>, device> a{dp::extents<2>{}};
    a.record_stream(dp::stream<gpu>::own());
    a.record_stream(side);
    a.record_stream(side);
    mock::clear_calls();
  }
  CHECK(mock::calls() == strings{"cudaEventCreateWithFlags device 1", "cudaEventRecord device 1 on side",
                                 "cudaStreamWaitEvent device 1 on own", "cudaEventDestroy device 1",
                                 "cudaFreeAsync device 1 stream of 1 on own"});
  CHECK(mock::live_events() == 0);
  CHECK(current_device() == 0);
}

TEST_CASE("if an event cannot order the streams, the host waits before memory is freed", "[backend][stream]") {
  const auto side = side_stream();
  for (const char* function : {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaStreamWaitEvent"}) {
    auto a = std::optional(dp::tensor<float, dp::extents<2>, device>(dp::extents<2>{}));
    a->record_stream(side);
    mock::fail(function, cudaErrorMemoryAllocation);
    mock::clear_calls();
    a.reset();
    const strings& calls = mock::calls();
    CHECK(std::count(calls.begin(), calls.end(), "cudaStreamSynchronize device 1 on side") == 1);
    CHECK(calls.back() == "cudaFreeAsync device 1 stream of 1 on own");
    CHECK(mock::live_events() == 0);
    CHECK(current_device() == 0);
  }
}

TEST_CASE("memory outlives the stream on which it was taken", "[backend][stream]") {
  auto side = std::optional(side_stream());
  auto a = [&] {
    const dp::stream_scope on(*side);
    return std::optional(dp::tensor<float, dp::extents<2>, device>(dp::extents<2>{}));
  }();
  side.reset();
  mock::clear_calls();
  a.reset();
  CHECK(mock::calls() == strings{"cudaFreeAsync device 1 stream of 1 on side"});
  const dp::stream<gpu> again;  // gets the same stream, because streams are never destroyed
  mock::clear_calls();
  again.synchronize();
  CHECK(mock::calls() == strings{"cudaStreamSynchronize device 1 on side"});
}

TEST_CASE("synchronize waits for all streams of a place", "[backend][stream]") {
  auto side = std::optional(side_stream());
  side.reset();
  dp::synchronize<gpu>();
  CHECK(mock::calls() == strings{"cudaStreamSynchronize device 1 on own", "cudaStreamSynchronize device 1 on side"});
  mock::clear_calls();
  dp::synchronize<dp::cuda<0>>();
  CHECK(std::count(mock::calls().begin(), mock::calls().end(), "cudaStreamSynchronize device 1 on side") == 0);
}

TEST_CASE("a stream reports whether it is ready, and its failure", "[backend][stream]") {
  const auto side = side_stream();
  mock::set_done(false);
  CHECK_FALSE(side.ready());
  CHECK(cudaGetLastError() == cudaSuccess);
  mock::set_done(true);
  CHECK(side.ready());
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK(side.ready());
  CHECK_THROWS_WITH(side.synchronize(), ContainsSubstring("cudaStreamQuery on cuda:1") &&
                                            ContainsSubstring("cudaErrorIllegalAddress, 700"));
}

TEST_CASE("a failure to create a stream is an error; a later attempt succeeds", "[backend][stream]") {
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  dp::synchronize<gpu>();
  mock::fail("cudaStreamCreateWithFlags", cudaErrorMemoryAllocation);
  CHECK_THROWS_AS(dp::stream<gpu>(), dp::out_of_memory);
  CHECK_NOTHROW(dp::stream<gpu>());
  CHECK(current_device() == 0);
}

TEST_CASE("logical devices on one GPU have streams of their own", "[backend][stream]") {
  dp::set_device_map({{0, 0}, {1, 0}});
  const auto side = side_stream();
  dp::synchronize<dp::cuda<0>>();
  CHECK(std::count(mock::calls().begin(), mock::calls().end(), "cudaStreamSynchronize device 0 on side") == 0);
  dp::synchronize<gpu>();
  CHECK(std::count(mock::calls().begin(), mock::calls().end(), "cudaStreamSynchronize device 0 on side") == 1);
}
