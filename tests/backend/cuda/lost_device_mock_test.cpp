// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/check.hpp>

#include <optional>
#include <string>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;
using strings = std::vector<std::string>;
using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<0>>;

namespace {

auto counted() { return support::counted<float>(dp::extents<4>{}); }

void pretend_to_launch(int ordinal, const char* name) {
  const dp::detail::cuda_scope scope(ordinal);
  scope.after_launch(name);
}

/// Makes cuda<0> fail and returns the text of the error that every later use of it throws.
std::string lose_device_0() {
  mock::break_device(0, cudaErrorIllegalAddress);
  try {
    dp::synchronize<dp::cuda<0>>();
  } catch (const dp::device_lost& problem) {
    mock::clear_calls();
    return problem.what();
  }
  return {};
}

}  // namespace

TEST_CASE("the error of a lost device names the cause, the kernel and the remedy", "[backend][lost]") {
  pretend_to_launch(0, "scale_kernel");
  CHECK(lose_device_0() ==
        "devplace: cuda:0: the device is lost to this process since cudaStreamSynchronize on cuda:0 failed: an illegal "
        "memory access was encountered (cudaErrorIllegalAddress, 700). The last kernel launched on the device is "
        "scale_kernel. A kernel failed and this process cannot use the device any more; run the program with "
        "DEVPLACE_SYNC_LAUNCH=1, or under compute-sanitizer, to find the kernel. To use the device again, restart the "
        "process.");
}

TEST_CASE("every use of a lost device throws the same error without calling CUDA", "[backend][lost]") {
  const auto a = dp::to<device>(counted());
  const auto staging = dp::to<dp::on<dp::pinned>>(counted());
  auto b = dp::to<device>(counted());
  dp::event<dp::cuda<0>> e;
  const dp::stream<dp::cuda<0>> s;
  const std::string text = lose_device_0();
  using Catch::Matchers::Equals;
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), Equals(text));
  CHECK_THROWS_WITH(dp::to<host>(a), Equals(text));
  CHECK_THROWS_WITH(dp::to<device>(counted()), Equals(text));
  CHECK_THROWS_WITH(a.clone(), Equals(text));
  CHECK_THROWS_WITH(dp::copy(b, a), Equals(text));
  CHECK_THROWS_WITH(dp::to<dp::on<dp::cuda<1>>>(a), Equals(text));
  CHECK_THROWS_WITH(dp::to_async<device>(staging), Equals(text));
  CHECK_THROWS_WITH(dp::event<dp::cuda<0>>(), Equals(text));
  CHECK_THROWS_WITH(e.record(), Equals(text));
  CHECK_THROWS_WITH(e.before<dp::cuda<0>>(), Equals(text));
  CHECK_THROWS_WITH(e.wait(), Equals(text));
  CHECK_THROWS_WITH(dp::stream<dp::cuda<0>>(), Equals(text));
  CHECK_THROWS_WITH(s.synchronize(), Equals(text));
  CHECK_THROWS_WITH(dp::trim_memory<dp::cuda<0>>(), Equals(text));
  CHECK_THROWS_AS(pretend_to_launch(0, "another_kernel"), dp::device_lost);
  CHECK(e.ready());
  CHECK(s.ready());
  CHECK(dp::detail::events_of<dp::backend::cuda>().drain(0).ordinal == 0);
  // The copy to cuda<1> allocated memory there; cuda<0> was not called.
  for (const std::string& call : mock::calls())
    CHECK_THAT(call, ContainsSubstring("device 1") || ContainsSubstring("stream of 1"));
}

TEST_CASE("objects on a lost device are destroyed without calling CUDA", "[backend][lost]") {
  auto a = std::optional(dp::to<device>(counted()));
  auto staging = std::optional(dp::to<dp::on<dp::pinned>>(counted()));
  auto e = std::make_optional<dp::event<dp::cuda<0>>>();
  auto s = std::make_optional<dp::stream<dp::cuda<0>>>();
  auto copy = std::optional(dp::to_async<device>(*staging, *s));
  a->record_stream(*s);
  lose_device_0();
  copy.reset();
  a.reset();
  staging.reset();
  e.reset();
  s.reset();
  CHECK(mock::calls() == strings{});
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == 0);
  CHECK(dp::memory_statistics<dp::pinned>().allocated == 0);
}

TEST_CASE("a graph of a lost device is destroyed without calling CUDA", "[backend][lost]") {
  const auto block = dp::detail::allocate<dp::backend::cuda>(0, 8);
  auto* const bytes = static_cast<char*>(block.data());
  dp::detail::launch_memory memory;
  for (int i = 0; i != 3; ++i) {
    dp::detail::cuda_repeated_launches::scope step(memory);
    for (int k = 0; k != 2; ++k) dp::detail::copy_within<dp::backend::cuda>(0, bytes, bytes + 4, 4);
  }
  CHECK(memory.last.graphs == 1);
  lose_device_0();
  memory.graphs.reset();
  CHECK(mock::calls() == strings{});
}

TEST_CASE("other devices remain usable and listed", "[backend][lost]") {
  using other = dp::on<dp::cuda<1>>;
  const auto a = dp::to<other>(counted());
  lose_device_0();
  CHECK(support::values_of(dp::to<host>(a)) == std::vector<float>{0, 1, 2, 3});
  {
    auto staged = dp::to_async<other>(dp::to<dp::on<dp::pinned>>(counted()));
    CHECK(support::values_of(staged.get()) == std::vector<float>{0, 1, 2, 3});
  }
  CHECK(mock::live_pinned() == 0);
  CHECK(mock::live_blocks() == 1);
  CHECK_FALSE(dp::available<device>());
  CHECK(dp::available<other>());
  CHECK_FALSE(dp::available<dp::replicated<0, 1>>());
  CHECK_THROWS_WITH(dp::require_available<device>(),
                    ContainsSubstring("cuda:0 cannot be used: cuda:0: the device is lost to this process since"));
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 2);
  CHECK(found[1].place == "cuda:1");
}

TEST_CASE("places on one GPU are lost together, and each one's last kernel is named", "[backend][lost]") {
  mock::set_devices(2);
  dp::set_device_map({{0, 0}, {1, 0}, {2, 1}});
  pretend_to_launch(0, "scale_kernel");
  pretend_to_launch(1, "sum_kernel");
  pretend_to_launch(2, "other_kernel");
  CHECK_THAT(lose_device_0(),
             ContainsSubstring("launched on the device is scale_kernel. The last kernel launched on cuda:1, on the "
                               "same GPU, is sum_kernel. A kernel failed") &&
                 !ContainsSubstring("other_kernel"));
  CHECK_THROWS_WITH(
      dp::synchronize<dp::cuda<1>>(),
      ContainsSubstring("cuda:1: the device is lost to this process since cudaStreamSynchronize on cuda:0"));
  CHECK_NOTHROW(dp::synchronize<dp::cuda<2>>());
}

TEST_CASE("a query of an event or a stream finds a lost device too", "[backend][lost]") {
  dp::event<dp::cuda<0>> e;
  e.record();
  mock::break_device(0, cudaErrorLaunchFailure);
  CHECK(e.ready());
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring("since cudaEventQuery on cuda:0 failed"));
}

TEST_CASE("errors that a device survives leave it usable", "[backend][lost]") {
  for (const cudaError_t code : {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorNoKernelImageForDevice}) {
    mock::fail("cudaStreamSynchronize", code);
    CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::error);
    CHECK_NOTHROW(dp::synchronize<dp::cuda<0>>());
    CHECK(cudaGetLastError() == cudaSuccess);
  }
}

TEST_CASE("all sticky CUDA errors lose the device, hardware faults with their own advice", "[backend][lost]") {
  using dp::detail::is_device_lost;
  for (const cudaError_t code :
       {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError,
        cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
        cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorMpsClientTerminated,
        cudaErrorExternalDevice, static_cast<cudaError_t>(226), static_cast<cudaError_t>(721)})
    CHECK(is_device_lost(code));
  for (const cudaError_t code : {cudaSuccess, cudaErrorNotReady, cudaErrorMemoryAllocation, cudaErrorInvalidValue,
                                 cudaErrorInvalidDevice, cudaErrorLaunchOutOfResources})
    CHECK_FALSE(is_device_lost(code));
  mock::break_device(0, cudaErrorECCUncorrectable);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring("hardware fault; run on another device") &&
                                                        !ContainsSubstring("A kernel failed"));
}
