// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>

#include <devplace/convolution.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"

namespace dp = devplace;
namespace nn = dp::nn;
using dp::test::random_values;

namespace {

using net = nn::sequential<nn::input<2, 9, 10>, nn::conv2d<2, 6, nn::kernel<3>, nn::padding<1>>, nn::relu,
                           nn::max_pool2d<nn::kernel<2>>,
                           nn::conv2d<6, 8, nn::kernel<3>, nn::stride<2>, nn::padding<2>, nn::groups<2>, nn::no_bias>,
                           nn::conv_transpose2d<8, 4, nn::kernel<2>, nn::stride<2>>, nn::upsample<2>,
                           nn::avg_pool2d<nn::kernel<3>, nn::padding<1>>, nn::global_average_pool, nn::linear<4, 3>>;

}  // namespace

TEST_CASE("a network of convolutions on a GPU trains and predicts as on the CPU, in batches of any size", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using gpu = dp::on<dp::cuda<0>>;
  dp::model<net, dp::on<dp::cpu>, double> here{dp::seed{3}};
  dp::model<net, gpu, double> there{dp::seed{3}};
  const dp::optim::sgd rule{.learning_rate = 0.1, .momentum = 0.9};
  dp::trainer step_here{here, nn::mse{}, rule};
  dp::trainer step_there{there, nn::mse{}, rule};
  for (const std::size_t rows : {std::size_t{33}, std::size_t{1}, std::size_t{10}, std::size_t{64}}) {
    INFO(rows << " samples");
    const auto x = random_values<double>(dp::extents<dp::dyn, 2, 9, 10>{rows}, 1);
    const auto y = random_values<double>(dp::extents<dp::dyn, 3>{rows}, 2);
    const double loss = step_here(x, y).item();
    CHECK(step_there(dp::to<gpu>(x), dp::to<gpu>(y)).item() == Catch::Approx(loss).epsilon(1e-11));
    const auto expected = support::values_of(here.predict(x));
    const auto found = support::values_of(there.predict(dp::to<gpu>(x)));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(1e-10));
  }
}
