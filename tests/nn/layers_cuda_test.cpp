// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forward and backward of layers that no other GPU test trains.

#include <cstddef>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/tanh.hpp>
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

template <class Last>
using net =
    nn::sequential<nn::input<2, 3>, nn::batch_norm<2>, nn::flatten, nn::linear<6, 9>, nn::group_norm<3, 9>, nn::tanh,
                   nn::residual<nn::linear<9, 9>>, nn::linear<9, 7>, nn::sigmoid, nn::linear<7, 5>, Last>;

/// Pairs of linear layers with a relu between them, of which some compute the gradient between them in one kernel: the
/// first and those of the residual, but not with a frozen layer, without a bias, or with more than 16 outputs.
using pairs_of_layers =
    nn::sequential<nn::flatten, nn::linear<6, 9>, nn::relu, nn::linear<9, 8>, nn::tanh, nn::linear<8, 9>, nn::relu,
                   nn::frozen<nn::linear<9, 8>>, nn::linear<8, 9, false>, nn::relu, nn::linear<9, 7>,
                   nn::residual<nn::linear<7, 7>, nn::relu, nn::linear<7, 7>>, nn::frozen<nn::linear<7, 9>>, nn::relu,
                   nn::linear<9, 20>, nn::relu, nn::linear<20, 17>, nn::tanh, nn::linear<17, 5>>;
using pairs_net = nn::sequential<nn::input<2, 3>, pairs_of_layers>;

template <class Net> void check_training() {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using host = dp::on<dp::cpu>;
  using gpu = dp::on<dp::cuda<0>>;
  dp::model<Net, host, double> here{dp::seed{3}};
  dp::model<Net, gpu, double> there{dp::seed{3}};
  const dp::optim::sgd rule{.learning_rate = 0.5, .momentum = 0.9};
  dp::trainer step_here{here, nn::mse{}, rule};
  dp::trainer step_there{there, nn::mse{}, rule};
  for (const std::size_t rows : {std::size_t{33}, std::size_t{1}, std::size_t{10}, std::size_t{64}}) {
    INFO(rows << " samples");
    const auto x = random_values<double>(dp::extents<dp::dyn, 2, 3>{rows}, 1);
    const auto y = random_values<double>(dp::extents<dp::dyn, 5>{rows}, 2);
    const double loss = step_here(x, y).item();
    CHECK(step_there(dp::to<gpu>(x), dp::to<gpu>(y)).item() == Catch::Approx(loss).epsilon(1e-11));
    const auto expected = support::values_of(here.predict(x));
    const auto found = support::values_of(there.predict(dp::to<gpu>(x)));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(1e-10));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("layers on a GPU train and predict as on the CPU, in batches of any size", "[nn]", nn::softmax,
                   nn::log_softmax) {
  check_training<net<TestType>>();
}

TEST_CASE("pairs of linear layers on a GPU train as on the CPU", "[nn]") { check_training<pairs_net>(); }
