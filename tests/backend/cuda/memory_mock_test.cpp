// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using host = dp::on<dp::cpu>;
using first = dp::on<dp::cuda<0>>;
using second = dp::on<dp::cuda<1>>;
using cuda = dp::backend::cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Checks at the end of a test that CUDA's rules were followed and that everything was freed.
struct all_is_well {
  all_is_well() = default;
  all_is_well(const all_is_well&) = delete;
  all_is_well& operator=(const all_is_well&) = delete;
  ~all_is_well() {
    CHECK(mock::violations() == std::vector<std::string>{});
    CHECK(mock::live_blocks() == 0);
  }
};

std::size_t count_of(const std::string& call) {
  return static_cast<std::size_t>(std::count_if(mock::calls().begin(), mock::calls().end(),
                                                [&](const std::string& c) { return c.rfind(call, 0) == 0; }));
}

int current_device() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

}  // namespace

TEST_CASE("a tensor is copied to the device of its type and back, and the current device is kept", "[backend]") {
  const all_is_well check;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  const auto a = support::counted<float>(dp::extents<2, 3>{});
  {
    const auto b = dp::to<second>(a);
    CHECK(mock::calls() == std::vector<std::string>{"cudaGetDeviceCount device 0", "cudaStreamCreateWithFlags device 1",
                                                    "cudaMemPoolCreate device 1", "cudaMemPoolSetAttribute device 1",
                                                    "cudaMallocFromPoolAsync device 1 24 bytes",
                                                    "cudaMemcpyAsync device 1 to device, 24 bytes",
                                                    "cudaStreamSynchronize device 1"});
    CHECK(current_device() == 0);
    mock::clear_calls();
    const auto c = b.clone();
    CHECK(mock::calls() == std::vector<std::string>{"cudaMallocFromPoolAsync device 1 24 bytes",
                                                    "cudaMemcpyAsync device 1 within, 24 bytes"});
    CHECK(support::values_of(dp::to<host>(c)) == support::values_of(a));
    CHECK(mock::live_blocks() == 2);
  }
  CHECK(count_of("cudaFreeAsync device 1 stream of 1") == 2);
  CHECK(current_device() == 0);
}

TEST_CASE("a copy between devices waits for its source and is complete when it returns", "[backend]") {
  const all_is_well check;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  dp::synchronize<dp::cuda<1>>();
  const auto a = dp::to<first>(support::counted<double>(dp::extents<5>{}));
  mock::clear_calls();
  const auto b = dp::to<second>(a);
  CHECK(mock::calls() ==
        std::vector<std::string>{"cudaMallocFromPoolAsync device 1 40 bytes", "cudaStreamSynchronize device 0",
                                 "cudaDeviceCanAccessPeer device 1", "cudaMemPoolSetAccess device 0 pool of 0 for 1",
                                 "cudaMemcpyPeerAsync device 1 0 to 1", "cudaStreamSynchronize device 1"});
  CHECK(support::values_of(b) == std::vector<double>{0, 1, 2, 3, 4});
  mock::clear_calls();
  dp::tensor<double, dp::extents<5>, second> c{dp::extents<5>{}};
  dp::copy(c, a);
  CHECK(mock::calls() ==
        std::vector<std::string>{"cudaMallocFromPoolAsync device 1 40 bytes", "cudaStreamSynchronize device 0",
                                 "cudaMemcpyPeerAsync device 1 0 to 1", "cudaStreamSynchronize device 1"});
  CHECK(current_device() == 0);
}

TEST_CASE("without peer access CUDA stages the copy, by the same call", "[backend]") {
  const all_is_well check;
  mock::separate_devices();
  const auto a = dp::to<first>(support::counted<double>(dp::extents<5>{}));
  for (int i = 0; i < 2; ++i) CHECK(support::values_of(dp::to<second>(a)) == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(count_of("cudaDeviceCanAccessPeer") == 1);
  CHECK(count_of("cudaMemPoolSetAccess") == 0);
  CHECK(count_of("cudaMemcpyPeerAsync device 1 0 to 1") == 2);
}

TEST_CASE("logical devices that share a GPU count their memory separately", "[backend]") {
  const all_is_well check;
  dp::set_device_map({{0, 0}, {1, 0}, {2, 1}});
  const auto a = dp::to<dp::on<dp::cuda<2>>>(support::counted<float>(dp::extents<4>{}));
  const auto b = dp::to<second>(a);
  CHECK(count_of("cudaMallocFromPoolAsync device 1 16 bytes") == 1);
  CHECK(count_of("cudaMallocFromPoolAsync device 0 16 bytes") == 1);
  CHECK(count_of("cudaMemcpyPeerAsync device 0 1 to 0") == 1);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == 0);
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 16);
  CHECK(dp::memory_statistics<dp::cuda<2>>().allocated == 16);
  CHECK(count_of("cudaStreamCreateWithFlags") == 2);  // one per device; cuda<0> was not used
}

TEST_CASE("a copy within a device may overlap, which CUDA's own may not", "[backend]") {
  const all_is_well check;
  std::vector<std::uint8_t> bytes(100), result(100);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto block = dp::detail::allocate<cuda>(0, 100);
  auto* data = static_cast<std::uint8_t*>(block.data());
  dp::detail::copy_in<cuda>(0, data, bytes.data(), 100);
  dp::detail::copy_within<cuda>(0, data + 10, data, 90);
  dp::detail::copy_out<cuda>(0, result.data(), data, 100);
  CHECK(std::equal(result.begin() + 10, result.end(), bytes.begin()));
  CHECK(mock::live_blocks() == 1);
}

TEST_CASE("out of memory is an error with sizes, and the program continues", "[backend]") {
  mock::set_devices(1, 1000);
  const all_is_well check;
  const auto some = dp::to<first>(support::counted<float>(dp::extents<100>{}));
  try {
    static_cast<void>(dp::to<first>(support::counted<float>(dp::extents<200>{})));
    FAIL("800 bytes were found beside 400 of 1000");
  } catch (const dp::out_of_memory& problem) {
    const std::string text = problem.what();
    CHECK_THAT(text,
               ContainsSubstring("cuda:0: 800 bytes") && ContainsSubstring("while 400 bytes are in use by devplace"));
    CHECK_THAT(text, ContainsSubstring("600 of the device's 1000 bytes are free"));
  }
  CHECK(cudaGetLastError() == cudaSuccess);  // the reported error was cleared
  CHECK_NOTHROW(dp::to<first>(support::counted<float>(dp::extents<150>{})));
}

TEST_CASE("whichever call fails while copying to several devices, nothing leaks", "[backend]") {
  const all_is_well check;
  using split = dp::sharded<dp::axis<0>, 0, 1>;
  const auto a = support::counted<float>(dp::extents<6, 2>{});
  CHECK(support::values_of(dp::gather<host>(dp::scatter<split>(a))) == support::values_of(a));
  for (const char* function : {"cudaMallocFromPoolAsync", "cudaMemcpyAsync"})
    for (int nth = 1; nth <= 2; ++nth) {
      mock::fail(function, cudaErrorInvalidValue, nth);
      CHECK_THROWS_WITH(dp::scatter<split>(a), ContainsSubstring(function) &&
                                                   ContainsSubstring("cuda:" + std::to_string(nth - 1)) &&
                                                   ContainsSubstring("cudaErrorInvalidValue, 1"));
      CHECK(mock::live_blocks() == 0);
      CHECK(current_device() == 0);
    }
}

TEST_CASE("a place's pool keeps freed memory until it is trimmed", "[backend]") {
  const all_is_well check;
  {
    const auto a = dp::to<first>(support::counted<float>(dp::extents<100>{}));
  }
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == 0);
  CHECK(dp::memory_statistics<dp::cuda<0>>().reserved == 400);
  CHECK(dp::trim_memory<dp::cuda<0>>() == 400);
  CHECK(dp::memory_statistics<dp::cuda<0>>().reserved == 0);
}

TEST_CASE("a failure to create a queue leaks nothing and is retried later", "[backend]") {
  const all_is_well check;
  for (const char* function : {"cudaStreamCreateWithFlags", "cudaMemPoolCreate", "cudaMemPoolSetAttribute"}) {
    mock::fail(function, cudaErrorInvalidValue);
    CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring(function));
    CHECK(current_device() == 0);
  }
  CHECK_NOTHROW(dp::synchronize<dp::cuda<0>>());
  CHECK(count_of("cudaStreamDestroy") == 2);
  CHECK(count_of("cudaMemPoolDestroy") == 1);
}

TEST_CASE("an allocation fails only after the pools of all places on the GPU were trimmed", "[backend]") {
  dp::set_device_map({{0, 0}, {1, 0}, {2, 1}});
  mock::set_devices(2, 1000);
  const all_is_well check;
  const auto kept = dp::to<second>(support::counted<float>(dp::extents<50>{}));
  {
    const auto gone = dp::to<second>(support::counted<float>(dp::extents<150>{}));
  }
  {
    const auto gone = dp::to<dp::on<dp::cuda<2>>>(support::counted<float>(dp::extents<100>{}));
  }
  CHECK(dp::memory_statistics<dp::cuda<1>>().reserved == 800);
  mock::clear_calls();
  {
    const auto large = dp::to<first>(support::counted<float>(dp::extents<200>{}));
    CHECK(support::values_of(large)[199] == 199);
  }
  CHECK(dp::memory_statistics<dp::cuda<1>>().reserved == 200);
  CHECK(dp::memory_statistics<dp::cuda<2>>().reserved == 400);  // on another GPU
  CHECK(count_of("cudaMemPoolTrimTo device 0") == 2);
  CHECK(count_of("cudaMemPoolTrimTo device 1") == 0);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK_THROWS_AS(dp::to<first>(support::counted<float>(dp::extents<201>{})), dp::out_of_memory);
}

TEST_CASE("freed memory is reused before more is allocated from the device", "[backend]") {
  const all_is_well check;
  for (int i = 0; i < 3; ++i) const auto a = dp::to<first>(support::counted<float>(dp::extents<100>{}));
  CHECK(dp::memory_statistics<dp::cuda<0>>().reserved == 400);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocations == 3);
}

TEST_CASE("a launch that fails when memory is freed is an error of the step that collected the launch", "[backend]") {
  const auto used = dp::detail::allocate<dp::backend::cuda>(0, 8);
  auto freed = dp::detail::allocate<dp::backend::cuda>(0, 8);
  auto* const bytes = static_cast<char*>(used.data());
  dp::detail::launch_memory memory;
  const auto step = [&](const auto& use) {
    dp::detail::cuda_repeated_launches::scope launches(memory);
    dp::detail::copy_within<dp::backend::cuda>(0, bytes, bytes + 4, 4);
    use();
    launches.finish();
  };
  mock::fail("cudaMemcpyAsync", cudaErrorMemoryAllocation);
  CHECK_THROWS_AS(step([&] { freed = {}; }), dp::out_of_memory);
  CHECK_NOTHROW(step([] {}));
}
