// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <ratio>

#include <devplace/attention.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = dp::nn;
using dp::test::random_values;

namespace {

using dropping_net =
    nn::sequential<nn::input<70>, nn::embedding<20, 40, nn::padding_index<3>>, nn::positional_embedding<70, 40>,
                   nn::multi_head_attention<40, 2, nn::attention_dropout<std::ratio<1, 4>>>,
                   nn::multi_head_attention<40, 1, nn::causal>, nn::linear<40, 20>>;

}  // namespace

TEST_CASE("attention on a GPU trains and predicts as on the CPU, with the same dropout", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using gpu = dp::on<dp::cuda<0>>;
  dp::model<dropping_net, dp::on<dp::cpu>, double> here{dp::seed{3}};
  dp::model<dropping_net, gpu, double> there{dp::seed{3}};
  const dp::optim::sgd rule{.learning_rate = 0.1, .momentum = 0.9};
  dp::trainer step_here{here, nn::cross_entropy{}, rule};
  dp::trainer step_there{there, nn::cross_entropy{}, rule};
  const std::size_t by = support::on_software_gpu ? 8 : 1;
  for (const std::size_t rows : {9 / by, std::size_t{1}, 16 / by}) {
    INFO(rows << " samples");
    const auto x = random_values<std::int32_t>(dp::extents<dp::dyn, 70>{rows}, 1, 0, 19);
    const auto y = random_values<std::int32_t>(dp::extents<dp::dyn, 70>{rows}, 2, 0, 19);
    const double loss = step_here(x, y).item();
    CHECK(step_there(dp::to<gpu>(x), dp::to<gpu>(y)).item() == Catch::Approx(loss).epsilon(1e-10));
    const auto expected = support::values_of(here.predict(x));
    const auto found = support::values_of(there.predict(dp::to<gpu>(x)));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(1e-9).margin(1e-9));
  }
}
