// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <string>
#include <vector>

#include <devplace/nn/dropout.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/nn/tanh.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using from = nn::linear<6, 6>;
using network_of_sums = nn::sequential<nn::input<6>, nn::sum_of<nn::identity, nn::sequential<from, nn::tanh>, from>,
                                       nn::sum_of<nn::tanh, from, nn::identity>>;

}  // namespace

TEST_CASE("sum_of agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<network_of_sums, dp::extents<5, 6>, dp::extents<5, 6>>(
      "branches/summed", {"w0", "b0", "w1", "b1", "w2", "b2"});
}

TEST_CASE("branches draw independent random numbers", "[nn]") {
  using run = dp::runtime::engine<nn::sum_of<nn::input<50>, nn::dropout<>, nn::dropout<>>, float, dp::backend::cpu>;
  const std::vector<float> x(50, 1.0F);
  std::vector<float> workspace(run::workspace_bytes(1, nn::mode::train) / sizeof(float));
  const auto replica = dp::runtime::replica<float>{};
  const auto p = run::make_pass(replica, workspace.data(), 1, nn::mode::train, {7, 3, 0, 0});
  run::forward(p, x.data());
  for (const float sum : {1.0F, 3.0F, 5.0F})  // none, one or both branches keep the element
    CHECK(std::count(run::output_of(p), run::output_of(p) + 50, sum) > 0);
}

TEST_CASE("parameters of branches are named by branch", "[nn]") {
  std::vector<std::string> names;
  dp::runtime::network_plan<network_of_sums>::for_each_parameter(
      [&](const std::string& name, auto, std::size_t) { names.push_back(name); });
  CHECK(names ==
        std::vector<std::string>{"1.1.0.weight", "1.1.0.bias", "1.2.weight", "1.2.bias", "2.1.weight", "2.1.bias"});
}
