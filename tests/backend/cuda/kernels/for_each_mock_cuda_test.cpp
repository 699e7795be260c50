// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/wide.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <devplace/data/detail/moved_pixels.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace mock = devplace::test::mock_cuda;

namespace {

struct count {
  int* calls;
  DEVPLACE_HD void operator()(std::size_t i) const { ++calls[i]; }
};

}  // namespace

TEST_CASE("the kernel of for_each calls its functor once for each index", "[cuda]") {
  for (const std::size_t n : {1u, 255u, 256u, 257u, 5000u})
    for (const unsigned blocks : {1u, 2u, 30u}) {
      mock::device_vector<int> calls(n);
      mock::run_kernel(blocks, devplace::detail::for_each_kernel<count>{n, {calls.data()}}, 1);
      CHECK(calls == mock::device_vector<int>(n, 1));
    }
}

TEST_CASE("the kernel moves the pixels of a batch to where the CPU moves them", "[cuda]") {
  constexpr devplace::detail::image_size size{2, 9, 11};
  constexpr std::size_t samples = 3, pixels = 3 * 2 * 9 * 11;
  mock::device_vector<std::uint8_t> from(pixels), expected(pixels), moved(pixels);
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  mock::device_vector<double> moves(samples * devplace::detail::move_numbers);
  for (std::size_t i = 0; i < samples; ++i) {
    auto move = devplace::sample_move::rotation(static_cast<double>(i) * 20);
    move.x = 2;
    devplace::detail::store_move(move, size, moves.data() + i * devplace::detail::move_numbers);
  }
  using body = devplace::detail::moved_pixels<std::uint8_t>;
  const body on_host{expected.data(), from.data(), moves.data(), size.channels, size.height, size.width, 0, true};
  on_host.range(0, pixels);
  body on_device = on_host;
  on_device.to = moved.data();
  mock::run_kernel(2, devplace::detail::for_each_kernel<body>{pixels, on_device}, 1);
  CHECK(moved == expected);
}
