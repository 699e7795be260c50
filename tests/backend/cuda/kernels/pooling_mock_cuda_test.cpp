// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/pooling.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/upsample.cuh>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::bf16;

namespace {

/// 16-bit elements from `shift` elements after a multiple of 16 bytes to the end of memory.
struct elements {
  mock::device_vector<bf16> room;
  std::size_t size, shift;

  explicit elements(std::size_t n, std::size_t from = 0) : room(from + n), size(n), shift(from) {
    for (std::size_t i = 0; i < n; ++i)
      data()[i] = i % 53 == 7 ? std::numeric_limits<bf16>::quiet_NaN()
                              : bf16(static_cast<float>(i * 7919 % 11) / 3 - 1);  // with equal adjacent elements
  }
  bf16* data() { return room.data() + shift; }
  /// Returns the bits, which are equal for all NaNs.
  std::vector<std::uint16_t> bits() {
    std::vector<std::uint16_t> result;
    for (std::size_t i = 0; i < size; ++i) result.push_back(data()[i] == data()[i] ? data()[i].bits() : 0xFFFF);
    return result;
  }
};

/// Runs `functor_to(result)` as a GPU would and compares it with a loop. Returns whether it takes several elements at a
/// time.
template <class Functor> bool takes_several(std::size_t n, std::size_t shift, const Functor& functor_to) {
  elements found(n, shift), expected(n);
  for (std::size_t i = 0; i < n; ++i) functor_to(expected.data())(i);
  const auto kernel = make_kernel(n, functor_to(found.data()));
  mock::run_kernel(2, kernel, 1);
  CHECK(found.bits() == expected.bits());
  return kernel.groups != 0;
}

dp::detail::window_axis axis(std::size_t in, std::size_t size, std::size_t stride, std::size_t padding) {
  dp::detail::window_axis a{};
  a.in = in, a.size = size, a.stride = stride, a.padding = padding, a.dilation = 1;
  a.out = (in + 2 * padding - size) / stride + 1;
  return a;
}

}  // namespace

TEST_CASE("pooling of 16-bit elements in squares equals a loop's, with wide accesses where rows allow", "[cuda]") {
  for (const auto& [rows, columns, size, padding] : {std::array<std::size_t, 4>{4, 8, 2, 0},
                                                     {5, 24, 2, 0},
                                                     {6, 10, 2, 0},
                                                     {7, 7, 2, 0},
                                                     {6, 16, 3, 1},
                                                     {6, 16, 2, 1}})
    for (const std::size_t shift : {0u, 1u, 4u}) {
      INFO(rows << " x " << columns << " in windows of " << size << " with padding " << padding << ", from element "
                << shift << " on");
      const dp::detail::pooling_shape s{axis(rows, size, 2, padding), axis(columns, size, 2, padding)};
      constexpr std::size_t planes = 3;
      elements x(planes * s.plane(), shift), dy(planes * s.windows());
      const bool squares = size == 2 && padding == 0 && columns % 8 == 0, wide = squares && shift == 0;
      using dp::detail::max_pool_functor, dp::detail::max_pool_gradient_functor, dp::detail::average_pool_functor,
          dp::detail::average_pool_gradient_functor;
      const std::size_t windows = planes * s.windows(), pixels = planes * s.plane();
      CHECK(takes_several(windows, 0, [&](bf16* to) { return max_pool_functor<bf16>{s, x.data(), to}; }) == wide);
      CHECK(takes_several(windows, 0, [&](bf16* to) { return average_pool_functor<bf16>{s, x.data(), to}; }) == wide);
      CHECK(takes_several(pixels, 0, [&](bf16* to) {
              return max_pool_gradient_functor<bf16>{s, x.data(), dy.data(), to};
            }) == wide);
      CHECK(takes_several(pixels, shift,
                          [&](bf16* to) { return average_pool_gradient_functor<bf16>{s, dy.data(), to}; }) == wide);
    }
}

TEST_CASE("upsampling of 16-bit elements equals a loop's, with wide accesses where rows allow", "[cuda]") {
  for (const auto& [columns, factor] : {std::array<std::size_t, 2>{4, 2}, {12, 2}, {7, 2}, {8, 3}})
    for (const std::size_t shift : {0u, 1u, 4u}) {
      INFO(columns << " columns, " << factor << " times, from element " << shift << " on");
      const std::size_t n = 5 * columns, c = columns, f = factor;
      elements x(n), dy(n * factor * factor, shift);
      const bool wide = factor == 2 && columns % 4 == 0 && shift == 0;
      CHECK(takes_several(n * factor * factor, shift,
                          [&](bf16* to) { return dp::detail::upsample_functor<bf16>{c, f, x.data(), to}; }) == wide);
      CHECK(takes_several(n, 0, [&](bf16* to) {
              return dp::detail::upsample_gradient_functor<bf16>{c, f, dy.data(), to};
            }) == wide);
    }
}
