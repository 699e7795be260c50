// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/batch_norm.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::bf16;

TEST_CASE("batch_norm of 16-bit elements takes 8 at a time and equals a loop, for any extent", "[cuda]") {
  for (const auto& s : {dp::detail::channel_shape{5, 3, 1}, {2, 3, 5}, {3, 2, 8}, {2, 3, 49}})
    for (const std::size_t shift : {0u, 3u}) {
      INFO(s.channels << " channels of " << s.extent << " positions, from element " << shift << " on");
      const std::size_t n = s.size();
      std::vector<mock::device_vector<bf16>> rooms(4, mock::device_vector<bf16>(shift + n));
      bf16 *const x = rooms[0].data() + shift, *const dy = rooms[1].data() + shift,
                  *const found = rooms[2].data() + shift, *const expected = rooms[3].data() + shift;
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = bf16(static_cast<float>(i * 7919 % 23) / 3);
        dy[i] = bf16(static_cast<float>(i * 31 % 17) - 8);
      }
      mock::device_vector<float> numbers(7 * s.channels);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) / 4 + 1;
      const auto scales = dp::detail::channel_scales<float>::in(numbers.data(), s.channels);
      const float *const weight = numbers.data() + 3 * s.channels, *const bias = weight + s.channels;
      const auto check = [&](const auto& functor_to) {
        const auto kernel = make_kernel(n, functor_to(found));
        CHECK((kernel.groups != 0) == (shift == 0));
        mock::run_kernel(2, kernel, 1);
        for (std::size_t i = 0; i < n; ++i) functor_to(expected)(i);
        for (std::size_t i = 0; i < n; ++i) REQUIRE(found[i].bits() == expected[i].bits());
      };
      check([&](bf16* to) { return dp::detail::scale_channels_functor<bf16, float>{s, to, x, scales, weight, bias}; });
      check([&](bf16* to) {
        return dp::detail::batch_norm_gradient_functor<bf16, float>{s, to, x, dy, scales, weight, bias};
      });
    }
}
