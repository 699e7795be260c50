// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/train/accuracy.hpp>

#include <cstddef>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>

#include "parallel/two_logical_devices.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/labelled_samples.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

template <class Where> double measure(std::size_t top) {
  using net = nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 16>, nn::tanh, nn::linear<16, 10>>;
  const dp::model<net, Where, double> model{dp::seed{3}};
  return dp::accuracy(model, support::numbered_images(1001), {.batch = 64}, {.top = top});
}

}  // namespace

TEST_CASE("accuracy on one GPU and on two logical devices equals that on the CPU", "[train]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const std::size_t top : {std::size_t{1}, std::size_t{3}, std::size_t{10}}) {
    const double expected = measure<dp::on<dp::cpu>>(top);
    CHECK(expected > 0);
    CHECK(measure<dp::on<dp::cuda<0>>>(top) == expected);
    CHECK(measure<dp::replicated<0, 1>>(top) == expected);
  }
}
