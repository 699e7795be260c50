// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/elu.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

template <class Layer>
void compare(const std::string& name) {
  using net = nn::sequential<nn::input<7>, Layer>;
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>(name);
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>(name + "_large");
}

template <class Layer>
void compare_with_differences() {
  const auto alone = nn::check_gradients<nn::sequential<nn::input<5>, Layer>>(dp::seed{4});
  INFO(alone.where);
  CHECK(alone.checked == 15);
  CHECK(alone.worst < 1e-7);
  const auto inside = nn::check_gradients<nn::sequential<nn::linear<4, 5>, Layer, nn::linear<5, 3>>>(dp::seed{5});
  INFO(inside.where);
  CHECK(inside.worst < 1e-7);
}

}  // namespace

TEST_CASE("elu agrees with PyTorch", "[nn]") {
  compare<nn::elu<>>("elu");
  compare<nn::elu<std::ratio<3, 2>>>("elu_alpha");
}

TEST_CASE("elu's gradient agrees with differences", "[nn]") {
  compare_with_differences<nn::elu<>>();
  compare_with_differences<nn::elu<std::ratio<3, 2>>>();
}
