// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstddef>
#include <ratio>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/two_logical_devices.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;

TEMPLATE_TEST_CASE("replicas on CUDA devices follow one device and stay bitwise equal", "[train]",
                   collective::all_reduce<>, collective::scatter_gather, collective::ring_all_reduce,
                   collective::sharded_all_reduce<>, collective::sharded_all_reduce<collective::ring>) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
  using where = dp::replicated<0, 1>;
  dp::model<net, dp::on<dp::cpu>, double> one{dp::seed{9}};
  dp::model<net, where, double> two{dp::seed{9}};
  const dp::optim::adam rule{.learning_rate = 0.01};
  dp::trainer step_of_one{one, nn::cross_entropy{}, rule};
  dp::trainer step_of_two{two, nn::cross_entropy{}, rule, TestType{}};
  for (const std::size_t rows : {std::size_t{7}, std::size_t{1}, std::size_t{64}, std::size_t{2}}) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto y = dp::test::square_labels(rows, 3);
    const double expected = step_of_one(x, y).item();
    CHECK(step_of_two(distribute<where>(x), distribute<where>(y)).item() == Catch::Approx(expected).epsilon(1e-9));
    dp::check_replicas(two);
  }
}
