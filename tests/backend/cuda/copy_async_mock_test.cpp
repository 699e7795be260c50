// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/copy_async.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;
using strings = std::vector<std::string>;
using device = dp::on<dp::cuda<0>>;
using pinned = dp::on<dp::pinned>;
using list = dp::extents<3>;
using values = std::vector<float>;

namespace {

auto counted() { return dp::to<pinned>(support::counted<float>(list{})); }

/// Returns a stream whose work is recorded with "on <name>".
dp::stream<dp::cuda<0>> named_stream(const std::string& name) {
  dp::stream<dp::cuda<0>> made;
  mock::name_stream(made.native_handle(), name);
  return made;
}

}  // namespace

TEST_CASE("a copy to a device runs on its stream; the host waits when it gets the tensor", "[backend][async]") {
  const auto copies = named_stream("copies");
  const auto source = counted();
  mock::set_done(false);
  mock::clear_calls();
  auto copy = dp::to_async<device>(source, copies);
  CHECK(mock::calls() ==
        strings{"cudaMallocFromPoolAsync device 0 12 bytes on copies", "cudaEventCreateWithFlags device 0",
                "cudaMemcpyAsync device 0 to device, 12 bytes on copies", "cudaEventRecord device 0 on copies"});
  CHECK_FALSE(copy.ready());
  mock::clear_calls();
  {
    const auto there = std::move(copy).get();
    CHECK(mock::calls() == strings{"cudaEventSynchronize device 0"});
    CHECK(support::values_of(there) == values{0, 1, 2});
    mock::clear_calls();
  }
  CHECK(mock::calls() == strings{"cudaFreeAsync device 0 stream of 0"});  // on the stream that used it last
  CHECK(mock::violations() == strings{});
}

TEST_CASE("the first stream ordered after a copy becomes the tensor's stream, the next one is recorded",
          "[backend][async]") {
  const auto copies = named_stream("copies"), compute = named_stream("compute");
  {
    auto copy = dp::to_async<device>(counted(), copies);
    mock::clear_calls();
    copy.after(compute);
    CHECK(mock::calls() == strings{"cudaStreamWaitEvent device 0 on compute"});
    copy.after();
    CHECK(mock::live_pinned() == 1);  // the temporary source
    mock::clear_calls();
  }
  CHECK(mock::calls() == strings{"cudaEventSynchronize device 0", "cudaFreeHost device 0", "cudaEventDestroy device 0",
                                 "cudaEventCreateWithFlags device 0", "cudaEventRecord device 0",
                                 "cudaStreamWaitEvent device 0 on compute", "cudaEventDestroy device 0",
                                 "cudaFreeAsync device 0 stream of 0 on compute"});
  CHECK(mock::live_pinned() == 0);
  CHECK(mock::live_blocks() == 0);
  CHECK(mock::violations() == strings{});
}

TEST_CASE("a copy from a device is ordered after this thread's work and before its memory is freed",
          "[backend][async]") {
  const auto copies = named_stream("copies");
  auto source = std::optional(dp::to<device>(support::counted<float>(list{})));
  mock::clear_calls();
  auto copy = dp::to_async<pinned>(*source, copies);
  strings order;
  for (const std::string& call : mock::calls())
    if (call.find("cudaEventCreate") != 0 && call.find("cudaEventDestroy") != 0) order.push_back(call);
  CHECK(order == strings{"cudaEventRecord device 0", "cudaStreamWaitEvent device 0 on copies",
                         "cudaHostAlloc device 0 12 bytes", "cudaMemcpyAsync device 0 to host, 12 bytes on copies",
                         "cudaEventRecord device 0 on copies"});
  mock::clear_calls();
  source.reset();
  CHECK(std::count(mock::calls().begin(), mock::calls().end(), "cudaEventRecord device 0 on copies") == 1);
  CHECK(mock::calls().back() == "cudaFreeAsync device 0 stream of 0");
  CHECK(std::move(copy).get()(2) == 2);
  CHECK(mock::violations() == strings{});
}

TEST_CASE("a copy into an existing tensor does not allocate", "[backend][async]") {
  const auto copies = named_stream("copies");
  const auto source = counted();
  const dp::tensor<float, list, device> kept{list{}};
  dp::tensor<float, list, device> to{list{}};
  dp::event<dp::cuda<0>> there;
  there.record();
  copies.wait(there);
  mock::clear_calls();
  {
    auto copy = dp::copy_async(to, source, copies);
    copy.after();
  }
  CHECK(mock::calls() == strings{"cudaEventCreateWithFlags device 0",
                                 "cudaMemcpyAsync device 0 to device, 12 bytes on copies",
                                 "cudaEventRecord device 0 on copies", "cudaStreamWaitEvent device 0",
                                 "cudaEventSynchronize device 0", "cudaEventDestroy device 0"});
  CHECK(support::values_of(to) == values{0, 1, 2});
  CHECK(mock::violations() == strings{});
}

TEST_CASE("whichever call of a copy fails, nothing leaks and no memory is freed too early", "[backend][async]") {
  const auto copies = named_stream("copies");
  for (const char* function : {"cudaMallocFromPoolAsync", "cudaEventCreateWithFlags", "cudaMemcpyAsync"}) {
    mock::fail(function, cudaErrorInvalidValue);
    CHECK_THROWS_WITH(dp::to_async<device>(counted(), copies), ContainsSubstring(function));
    CHECK(mock::live_pinned() == 0);
    CHECK(mock::live_blocks() == 0);
    CHECK(mock::live_events() == 0);
  }
  mock::fail("cudaEventRecord", cudaErrorMemoryAllocation);
  mock::clear_calls();
  CHECK_THROWS_WITH(dp::to_async<device>(counted(), copies), ContainsSubstring("cudaEventRecord"));
  const strings& calls = mock::calls();
  const auto waited = std::find(calls.begin(), calls.end(), "cudaStreamSynchronize device 0 on copies");
  CHECK(waited < std::find(calls.begin(), calls.end(), "cudaFreeHost device 0"));
  CHECK(mock::live_pinned() == 0);
  CHECK(mock::violations() == strings{});
}

TEST_CASE("a tensor that could not be copied because memory ran out is unchanged", "[backend][async]") {
  auto source = counted();
  mock::fail("cudaMallocFromPoolAsync", cudaErrorInvalidValue);
  CHECK_THROWS_AS(dp::to_async<device>(std::move(source)), dp::error);
  REQUIRE(source.data() != nullptr);
  CHECK(source(2) == 2);
}

TEST_CASE("a failure during a copy is thrown by waiting for it, not by the destructor", "[backend][async]") {
  auto forgotten = std::optional(dp::to_async<device>(counted()));
  auto copy = dp::to_async<device>(counted());
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_NOTHROW(forgotten.reset());
  CHECK_THROWS_WITH(copy.get(), ContainsSubstring("cudaErrorIllegalAddress, 700"));
}
