// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <vector>

#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>

#include "ops/bias_relu.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

TEST_CASE("a functor has the same effect on a CUDA device as in a plain loop", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using cuda = dp::backend::cuda;
  ops_test::bias_relu_input input(100003);
  const std::vector<float> expected = input.in_plain_loop();
  const std::size_t bytes = input.values.size() * sizeof(float);
  const auto x = dp::detail::allocate<cuda>(0, bytes);
  const auto bias = dp::detail::allocate<cuda>(0, input.bias.size() * sizeof(float));
  dp::detail::copy_in<cuda>(0, x.data(), input.values.data(), bytes);
  dp::detail::copy_in<cuda>(0, bias.data(), input.bias.data(), input.bias.size() * sizeof(float));
  dp::detail::for_each_index<cuda>(
      0, input.values.size(), 16, input.functor(static_cast<float*>(x.data()), static_cast<const float*>(bias.data())));
  dp::detail::copy_out<cuda>(0, input.values.data(), x.data(), bytes);
  CHECK(input.values == expected);
}
