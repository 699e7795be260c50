// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cuda/scale_bytes.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "support/simt/emulator.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

template <class T> void check_kernel(std::size_t n, std::size_t offset) {
  INFO(n << " bytes, offset " << offset);
  constexpr std::size_t room = 20000;
  alignas(16) static std::array<std::uint8_t, room> from;
  alignas(16) static std::array<T, room> by_kernel, by_loop;
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<std::uint8_t>(i * 37 + i / 256);
  by_kernel.fill(T{-1});
  by_loop.fill(T{-1});
  const dp::byte_scale<T> scale({}, 0.1307, 0.3081);
  const auto kernel = make_kernel(n, dp::detail::byte_scaler<T>{by_kernel.data(), from.data() + offset, scale});
  CHECK(kernel.groups == (offset == 0 ? n / 16 : 0));
  simt::launch(3, kernel, 1);
  dp::detail::scale_byte_range(by_loop.data(), from.data() + offset, n, scale);
  CHECK(std::memcmp(by_kernel.data(), by_loop.data(), sizeof by_loop) == 0);
}

}  // namespace

TEST_CASE("the kernel that scales bytes gives the bits of the CPU's loop, and writes no more", "[cuda]") {
  for (const std::size_t n : {1u, 15u, 16u, 783u, 784u, 16389u})
    for (const std::size_t offset : {0u, 1u}) {
      check_kernel<float>(n, offset);
      if constexpr (!support::sanitized) check_kernel<double>(n, offset);
    }
}
