// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/attention.hpp>
#include <devplace/convolution.hpp>
#include <devplace/nn.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

template <class... Layers>
constexpr bool of_image =
    dp::runtime::network_plan<nn::sequential<nn::input<4, 8, 8>, Layers...>>::channels_first(false);
template <class... Layers>
constexpr bool of_series = dp::runtime::network_plan<nn::sequential<nn::input<4, 8>, Layers...>>::channels_first(false);

using conv = nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>;
using conv_of_series = nn::conv1d<4, 4, nn::kernel<3>, nn::padding<1>>;

struct doubled {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = 2 * c.input; }
  static void backward(const auto& c) { c.input_gradient = 2 * c.output_gradient; }
};

}  // namespace

TEST_CASE("layers on images and series output channels first", "[nn]") {
  STATIC_REQUIRE(of_image<conv>);
  STATIC_REQUIRE(of_image<nn::conv_transpose2d<4, 2, nn::kernel<2>>>);
  STATIC_REQUIRE(of_image<nn::max_pool2d<nn::kernel<2>>>);
  STATIC_REQUIRE(of_image<nn::avg_pool2d<nn::kernel<2>>>);
  STATIC_REQUIRE(of_image<nn::upsample<2>>);
  STATIC_REQUIRE(of_series<conv_of_series>);
  STATIC_REQUIRE(of_series<nn::max_pool1d<nn::kernel<2>>>);
  STATIC_REQUIRE(of_series<nn::avg_pool1d<nn::kernel<2>>>);
}

TEST_CASE("layers that keep the axes keep channels first", "[nn]") {
  STATIC_REQUIRE(of_image<conv, nn::relu, nn::gelu, nn::identity, nn::dropout<>, nn::log_softmax>);
  STATIC_REQUIRE(of_image<conv, nn::batch_norm<4>, nn::group_norm<2, 4>, nn::layer_norm<8>, doubled>);
  STATIC_REQUIRE(of_image<conv, nn::residual<nn::tanh>, nn::sum_of<nn::identity, nn::silu>>);
  STATIC_REQUIRE(of_image<nn::concat_of<nn::identity, conv>, nn::sequential<nn::relu, nn::named<"last", nn::tanh>>>);
  STATIC_REQUIRE(of_image<nn::named<"first", nn::frozen<nn::learning_rate_times<std::ratio<1, 2>, conv>>>>);
}

TEST_CASE("after layers on the last axis and layers that move axes, channels are not first", "[nn]") {
  STATIC_REQUIRE(!of_image<nn::relu>);
  STATIC_REQUIRE(!of_image<conv, nn::linear<8, 8>, nn::relu>);
  STATIC_REQUIRE(!of_image<conv, nn::permute<1, 2, 0>, nn::softmax>);
  STATIC_REQUIRE(!of_image<conv, nn::residual<nn::permute<0, 2, 1>>>);
  STATIC_REQUIRE(!of_image<conv, nn::reshape<8, 32>>);
  STATIC_REQUIRE(!of_image<conv, nn::global_average_pool>);
  STATIC_REQUIRE(!of_image<conv, nn::flatten>);
  STATIC_REQUIRE(!of_series<conv_of_series, nn::multi_head_attention<8, 2>>);
}
