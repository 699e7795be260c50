// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/layers.md quotes on images, branches and names.

#include <string>
#include <type_traits>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using labels_pixels =
    nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 16, nn::kernel<4>, nn::stride<2>, nn::padding<1>>, nn::relu,
                   nn::conv_transpose2d<16, 5, nn::kernel<2>, nn::stride<2>>, nn::permute<1, 2, 0>>;  // 5 classes
using decoder = nn::sequential<nn::linear<16, 128>, nn::relu, nn::reshape<8, 4, 4>,
                               nn::conv_transpose2d<8, 1, nn::kernel<2>, nn::stride<2>>>;

using block = nn::residual<nn::projected_by<nn::conv2d<8, 16, nn::kernel<1>, nn::stride<2>>>,
                           nn::conv2d<8, 16, nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::relu,
                           nn::conv2d<16, 16, nn::kernel<3>, nn::padding<1>>>;
using branched = nn::sequential<nn::input<1, 28, 28>, nn::conv2d<1, 8, nn::kernel<3>>, nn::relu, block, nn::relu,
                                nn::concat_of<nn::identity, nn::conv2d<16, 4, nn::kernel<1>>>>;

using basic_block = nn::residual<nn::named<"fc1", nn::linear<8, 8>>, nn::relu, nn::named<"fc2", nn::linear<8, 8>>>;
using named_net =
    nn::sequential<nn::named<"stem", nn::linear<16, 8>>, nn::named<"layer1", nn::sequential<basic_block, nn::relu>>,
                   nn::named<"head", nn::linear<8, 4>>>;  // stem.weight, layer1.0.fc1.weight, head.weight

template <class Net> std::vector<std::string> names_in() {
  std::vector<std::string> names;
  dp::runtime::network_plan<Net>::for_each_parameter(
      [&](const std::string& name, auto, std::size_t) { names.push_back(name); });
  return names;
}

}  // namespace

TEST_CASE("docs/layers.md: networks that label pixels and that decode", "[docs]") {
  STATIC_REQUIRE(std::is_same_v<nn::network_output_t<labels_pixels>, dp::extents<8, 8, 5>>);
  STATIC_REQUIRE(std::is_same_v<nn::network_output_t<decoder>, dp::extents<1, 8, 8>>);
}

TEST_CASE("docs/layers.md: names of parameters in branches and of named layers", "[docs]") {
  CHECK(names_in<branched>() == std::vector<std::string>{"1.weight", "1.bias", "3.0.weight", "3.0.bias", "3.2.weight",
                                                         "3.2.bias", "3.shortcut.0.weight", "3.shortcut.0.bias",
                                                         "5.1.weight", "5.1.bias"});
  CHECK(names_in<named_net>() == std::vector<std::string>{"stem.weight", "stem.bias", "layer1.0.fc1.weight",
                                                          "layer1.0.fc1.bias", "layer1.0.fc2.weight",
                                                          "layer1.0.fc2.bias", "head.weight", "head.bias"});
}
