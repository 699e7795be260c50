// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>
#include <ratio>

#include <devplace/nn/elu.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/leaky_relu.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/silu.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/softplus.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/linear_gradients.hpp>

#include "support/activation_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using devplace::test::compare_activation_alone_with_differences;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;
using devplace::test::compare_option_with_pytorch;

TEST_CASE("relu agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::relu>("relu"); }

TEST_CASE("relu's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::relu>(); }

TEST_CASE("relu propagates the gradient at NaN, alone and fused with a linear layer", "[nn]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  using row = dp::tensor<float, dp::extents<1, 4>, dp::on<dp::cpu>>;
  const row y{{nan, 0, 2, nan}}, dy{{1, 2, 3, 4}};
  const row alone = nn::relu::gradient(dy, y);
  row fused(dp::extents<1, 4>{});
  dp::tensor<float, dp::extents<4>, dp::on<dp::cpu>> sums{0, 0, 0, 0};
  dp::detail::relu_gradient_into(fused.view(), dy.view(), y.view(), sums.view(), 0.0f);
  for (const row* gradient : {&alone, static_cast<const row*>(&fused)}) {
    CHECK((*gradient)(0, 0) == 1);
    CHECK((*gradient)(0, 1) == 0);
    CHECK((*gradient)(0, 2) == 3);
    CHECK((*gradient)(0, 3) == 4);
  }
}

TEST_CASE("sigmoid agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::sigmoid>("sigmoid"); }

TEST_CASE("sigmoid's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::sigmoid>(); }

TEST_CASE("silu agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::silu>("silu"); }

TEST_CASE("silu's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::silu>(); }

TEST_CASE("tanh agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::tanh>("tanh"); }

TEST_CASE("tanh's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::tanh>(); }

TEST_CASE("gelu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::gelu>("gelu");
  compare_activation_with_pytorch<nn::gelu_tanh>("gelu_tanh");
}

TEST_CASE("gelu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::gelu>();
  compare_activation_with_differences<nn::gelu_tanh>();
}

TEST_CASE("elu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::elu<>>("elu");
  compare_option_with_pytorch<nn::elu<std::ratio<3, 2>>>("elu_alpha");
}

TEST_CASE("elu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::elu<>>();
  compare_activation_alone_with_differences<nn::elu<std::ratio<3, 2>>>();
}

TEST_CASE("leaky_relu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::leaky_relu<>>("leaky_relu");
  compare_option_with_pytorch<nn::leaky_relu<std::ratio<1, 5>>>("leaky_relu_slope");
}

TEST_CASE("leaky_relu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::leaky_relu<>>();
  compare_activation_alone_with_differences<nn::leaky_relu<std::ratio<1, 5>>>();
}

TEST_CASE("softplus agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::softplus<>>("softplus");
  compare_option_with_pytorch<nn::softplus<std::ratio<2>, std::ratio<3>>>("softplus_beta");
}

TEST_CASE("softplus's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::softplus<>>();
  compare_activation_alone_with_differences<nn::softplus<std::ratio<2>, std::ratio<3>>>();
}

TEST_CASE("softmax agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::softmax>("softmax"); }

TEST_CASE("softmax's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::softmax>(); }

TEST_CASE("log_softmax agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::log_softmax>("log_softmax");
}

TEST_CASE("log_softmax's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::log_softmax>();
}
