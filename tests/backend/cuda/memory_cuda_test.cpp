// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <numeric>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using gpu = dp::on<dp::cuda<0>>;
using host = dp::on<dp::cpu>;
using cuda = dp::backend::cuda;

TEST_CASE("a tensor goes to a CUDA device and back", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const dp::tensor<float, dp::extents<2, 3>, host> a{{1, 2, 3}, {4, 5, 6}};
  const auto b = dp::to<gpu>(a);
  const auto c = dp::to<host>(b.clone());
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(c(i, j) == a(i, j));
}

TEST_CASE("a copy inside a CUDA device may overlap, in both directions", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  std::vector<std::uint8_t> bytes(1000), result(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto block = dp::detail::allocate<cuda>(0, 1000);
  auto* data = static_cast<std::uint8_t*>(block.data());
  dp::detail::copy_in<cuda>(0, data, bytes.data(), 1000);
  dp::detail::copy_within<cuda>(0, data + 10, data, 990);
  dp::detail::copy_out<cuda>(0, result.data(), data, 1000);
  for (std::size_t i = 10; i < 1000; ++i) REQUIRE(result[i] == bytes[i - 10]);
  dp::detail::copy_within<cuda>(0, data, data + 10, 990);
  dp::detail::copy_out<cuda>(0, result.data(), data, 1000);
  for (std::size_t i = 0; i < 990; ++i) REQUIRE(result[i] == bytes[i]);
}

TEST_CASE("memory of CUDA devices is counted", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const auto before = dp::memory_statistics<dp::cuda<0>>();
  {
    const dp::tensor<double, dp::extents<10>, gpu> a{dp::extents<10>{}};
    CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == before.allocated + 80);
  }
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == before.allocated);
}

// The tag excludes this test under compute-sanitizer, which reports the failing calls.
TEST_CASE("a request beyond the device's memory is an out_of_memory error with the numbers", "[backend][api-error]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const std::size_t request = std::size_t{1} << 50;
  CHECK_THROWS_AS(dp::detail::allocate<cuda>(0, request), dp::out_of_memory);
  CHECK_THROWS_WITH(dp::detail::allocate<cuda>(0, request),
                    Catch::Matchers::ContainsSubstring("cuda:0: 1125899906842624 bytes") &&
                        Catch::Matchers::ContainsSubstring("in use by devplace") &&
                        Catch::Matchers::ContainsSubstring("cudaMallocFromPoolAsync: out of memory"));
  CHECK_NOTHROW(dp::detail::allocate<cuda>(0, 64));
}

TEST_CASE("without a CUDA device a tensor there is refused with the reason", "[backend]") {
  if (dp::detail::cuda_devices().count != 0) {
    CHECK_NOTHROW(dp::synchronize<dp::cuda<0>>());
    return;  // not skipped, because a skip would end a program of several tests
  }
  CHECK_THROWS_AS((dp::tensor<float, dp::extents<1>, gpu>{dp::extents<1>{}}), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::placement_unavailable);
}
