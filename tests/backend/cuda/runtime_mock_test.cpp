// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/runtime.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <devplace/backend/cuda/device_query.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;
using dp::detail::cuda_device_guard;

namespace {

int current_device() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

}  // namespace

TEST_CASE("guards restore the device in the order of their ends", "[backend]") {
  {
    const cuda_device_guard outer(1);
    CHECK(current_device() == 1);
    {
      const cuda_device_guard inner(0);
      CHECK(current_device() == 0);
    }
    CHECK(current_device() == 1);
    const cuda_device_guard same(1);
    CHECK(same.visible() == 1);
  }
  CHECK(current_device() == 0);
}

TEST_CASE("a guard restores the device when an exception leaves it", "[backend]") {
  CHECK_THROWS_AS(
      [] {
        const cuda_device_guard outer(1);
        const cuda_device_guard inner(0);
        throw std::runtime_error("a program's own.");
      }(),
      std::runtime_error);
  CHECK(current_device() == 0);
}

TEST_CASE("the program's current device is kept by every call, also by a failing one", "[backend]") {
  using other = dp::on<dp::cuda<1>>;
  using pinned = dp::on<dp::pinned>;
  dp::synchronize<dp::cuda<1>>();
  const auto host = support::counted<float>(dp::extents<6>{});
  const auto a = dp::to<dp::on<dp::cuda<0>>>(host);
  const auto staging = dp::to<pinned>(host);
  // Peer access is queried once, so it can fail in the first round only.
  std::vector<const char*> functions{"cudaDeviceCanAccessPeer", "cudaMemPoolSetAccess", "cudaMemcpyPeerAsync",
                                     "cudaMallocFromPoolAsync", "cudaMemcpyAsync",      "cudaStreamSynchronize",
                                     "cudaHostAlloc",           "cudaEventRecord",      "cudaEventCreateWithFlags",
                                     "cudaMemPoolTrimTo",       "cudaMemGetInfo"};
  for (const int mine : {0, 1}) {
    REQUIRE(cudaSetDevice(mine) == cudaSuccess);
    for (const char* function : functions) {
      INFO(function << " while device " << mine << " is current");
      mock::fail(function, cudaErrorInvalidValue);
      int failed = 0;
      const auto attempt = [&](auto f) {
        try {
          f();
        } catch (const dp::error&) {
          ++failed;
        }
        CHECK(current_device() == mine);
      };
      attempt([&] { static_cast<void>(dp::to<other>(a)); });
      attempt([&] { static_cast<void>(dp::to<pinned>(a)); });
      attempt([&] { static_cast<void>(dp::to_async<other>(staging).get()); });
      attempt([&] { dp::event<dp::cuda<1>>().record(); });
      attempt([&] { static_cast<void>(dp::trim_memory<dp::cuda<1>>()); });
      attempt([&] { static_cast<void>(dp::list_devices()); });
      attempt([&] { const dp::stream<dp::cuda<1>> made; });
      CHECK(failed == 1);
    }
    functions.erase(functions.begin(), functions.begin() + 2);
  }
  CHECK(mock::violations() == std::vector<std::string>{});
}

namespace {

/// Uses a place in every way that allocates or calls CUDA in a destructor.
template <class P> void use_place() {
  using device = dp::on<P>;
  using pinned = dp::on<dp::pinned>;
  const auto host = support::counted<float>(dp::extents<6>{});
  const auto a = dp::to<device>(host);
  const auto staging = dp::to<pinned>(a);
  const dp::stream<P> side;
  const auto b = dp::to_async<device>(staging, side).get();
  dp::event<P> reached;
  reached.record();
  CHECK(reached.ready());
  CHECK(support::values_of(b) == support::values_of(host));
  static_cast<void>(dp::trim_memory<P>());
  dp::synchronize<P>();
}

/// Binds cuda<0> to device 1, like process 1 of a machine, and uses the place on several threads.
void use_device_1_alone() {
  dp::set_device_map({{0, 1}});
  CHECK(dp::available<dp::on<dp::cuda<0>>>());
  use_place<dp::cuda<0>>();
  CHECK_FALSE(dp::list_devices().empty());
  dp::event<dp::cuda<0>> moved;
  std::thread(use_place<dp::cuda<0>>).join();
  std::thread([event = std::move(moved)] {}).join();  // destroyed on a thread that has used no device
  CHECK(mock::contexts() == std::set<int>{1});
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(mock::violations() == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("an error that a destructor ignores is not left to the program", "[backend]") {
  use_place<dp::cuda<1>>();
  const dp::stream<dp::cuda<1>> side;
  for (const char* function :
       {"cudaFreeAsync", "cudaFreeHost", "cudaEventDestroy", "cudaEventCreateWithFlags", "cudaStreamWaitEvent"}) {
    CAPTURE(function);
    {
      const dp::tensor<float, dp::extents<2>, dp::on<dp::cuda<1>>> a{1, 2};
      const dp::tensor<float, dp::extents<2>, dp::on<dp::pinned>> staging{1, 2};
      const dp::event<dp::cuda<1>> reached;
      a.record_stream(side);
      mock::fail(function, cudaErrorInvalidValue);
    }
    CHECK(cudaGetLastError() == cudaSuccess);
  }
}

TEST_CASE("a process that uses one device changes the current device once per thread", "[backend]") {
  dp::set_device_map({{0, 1}});
  use_place<dp::cuda<0>>();
  CHECK(mock::device_changes() == 1);
  std::thread(use_place<dp::cuda<0>>).join();
  CHECK(mock::device_changes() == 2);
}

TEST_CASE("a device that the program makes current between operations is restored", "[backend]") {
  dp::set_device_map({{0, 1}});
  use_place<dp::cuda<0>>();
  for (const int mine : {0, 1, 0}) {
    REQUIRE(cudaSetDevice(mine) == cudaSuccess);
    use_place<dp::cuda<0>>();
    CHECK(current_device() == mine);
  }
}

TEST_CASE("a process that is bound to device 1 makes no context on device 0", "[backend]") { use_device_1_alone(); }

TEST_CASE("a process that is bound to device 1 runs while another process has device 0 for itself", "[backend]") {
  mock::occupy_device(0);
  use_device_1_alone();
}

TEST_CASE("an error of a GPU that another process uses names the mode and the remedy", "[backend]") {
  mock::occupy_device(0);
  mock::occupy_device(1);
  const auto check = [](const char* call, auto place) {
    CHECK_THROWS_WITH(dp::synchronize<decltype(place)>(), ContainsSubstring(call) && ContainsSubstring(", 46)") &&
                                                              ContainsSubstring("exclusive-process mode") &&
                                                              ContainsSubstring("bind_devices()") &&
                                                              !ContainsSubstring("compute-sanitizer"));
  };
  check("cudaStreamCreateWithFlags on cuda:0 failed", dp::cuda<0>{});
  check("cudaSetDevice on cuda:1 failed", dp::cuda<1>{});
  CHECK(mock::contexts().empty());
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("an error of a GPU without memory pools says so", "[backend]") {
  mock::fail("cudaMemPoolCreate", cudaErrorNotSupported);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring("cudaMemPoolCreate on cuda:0 failed") &&
                                                        ContainsSubstring("The GPU has no memory pools") &&
                                                        !ContainsSubstring("compute-sanitizer"));
  mock::fail("cudaStreamSynchronize", cudaErrorNotSupported);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(),
                    ContainsSubstring("The GPU or its driver does not have this function") &&
                        !ContainsSubstring("compute-sanitizer"));
  CHECK_NOTHROW(dp::synchronize<dp::cuda<0>>());
}
