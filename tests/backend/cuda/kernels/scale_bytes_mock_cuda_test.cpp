// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cuda/scale_bytes.cuh>

#include <cstddef>
#include <cstdint>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

template <class T> void check_kernel(std::size_t n, std::size_t offset) {
  INFO(n << " bytes, offset " << offset);
  constexpr std::size_t room = 20000;
  mock::device_vector<std::uint8_t> from(room);
  mock::device_vector<T> by_kernel(room, T{-1}), by_loop(room, T{-1});
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<std::uint8_t>(i * 37 + i / 256);
  const dp::byte_scale<T> scale({}, 0.1307, 0.3081);
  const auto kernel = make_kernel(n, dp::detail::byte_scaler<T>{by_kernel.data(), from.data() + offset, scale});
  CHECK(kernel.groups == (offset == 0 ? n / 16 : 0));
  mock::run_kernel(3, kernel, 1);
  dp::detail::scale_byte_range(by_loop.data(), from.data() + offset, n, scale);
  CHECK(by_kernel == by_loop);
}

}  // namespace

TEST_CASE("the kernel that scales bytes gives the bits of the CPU's loop, and writes no more", "[cuda]") {
  for (const std::size_t n : {1u, 15u, 16u, 783u, 784u, 16389u})
    for (const std::size_t offset : {0u, 1u}) {
      check_kernel<float>(n, offset);
      check_kernel<double>(n, offset);
    }
}
