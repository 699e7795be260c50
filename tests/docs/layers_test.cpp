// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/layers.md quotes on images, branches and names.

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/convolution.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

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

template <std::size_t Rows, std::size_t Columns>
using classifier = nn::sequential<nn::input<1, Rows, Columns>, nn::conv2d<1, 8, nn::kernel<3>>, nn::relu,
                                  nn::global_average_pool, nn::linear<8, 10>>;

// Calls f with a constant for each size that the program is compiled for.
template <class F> auto with_rows(std::size_t rows, const F& f) {
  switch (rows) {
    case 16:
      return f(std::integral_constant<std::size_t, 16>{});
    case 32:
      return f(std::integral_constant<std::size_t, 32>{});
    default:
      throw dp::argument_error("images have 16 or 32 rows");
  }
}

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

TEST_CASE("docs/layers.md: one network for several sizes of images", "[docs]") {
  const support::temporary_folder folder;
  const std::string file = folder.file("parameters.safetensors");
  dp::save_parameters(dp::model<classifier<16, 16>, dp::cpu>{dp::seed{2}}, file);
  const auto images = dp::ones<float, dp::cpu>(dp::extents<dp::dyn, 1, dp::dyn, dp::dyn>{3, 32, 32});

  const std::size_t classes = with_rows(images.extent(2), [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    dp::model<classifier<N, N>, dp::cpu> model{dp::seed{1}};
    dp::load_parameters(model, file);  // of a model of any of the sizes
    return model.predict(images).extent(1);
  });

  CHECK(classes == 10);
  CHECK_THROWS_AS(with_rows(17, [](auto) { return 0; }), dp::argument_error);
  // The mean of equal pixels does not depend on the size.
  dp::model<classifier<16, 16>, dp::cpu> small{dp::seed{2}};
  dp::model<classifier<32, 32>, dp::cpu> large{dp::seed{3}};
  dp::load_parameters(large, file);
  const auto of_small = small.predict(dp::ones<float, dp::cpu>(dp::extents<1, 1, 16, 16>{}));
  const auto of_large = large.predict(dp::ones<float, dp::cpu>(dp::extents<1, 1, 32, 32>{}));
  for (std::size_t c = 0; c < 10; ++c) CHECK(of_small(0, c) == Catch::Approx(of_large(0, c)));
}

TEST_CASE("docs/layers.md: names of parameters in branches and of named layers", "[docs]") {
  CHECK(names_in<branched>() == std::vector<std::string>{"1.weight", "1.bias", "3.0.weight", "3.0.bias", "3.2.weight",
                                                         "3.2.bias", "3.shortcut.0.weight", "3.shortcut.0.bias",
                                                         "5.1.weight", "5.1.bias"});
  CHECK(names_in<named_net>() == std::vector<std::string>{"stem.weight", "stem.bias", "layer1.0.fc1.weight",
                                                          "layer1.0.fc1.bias", "layer1.0.fc2.weight",
                                                          "layer1.0.fc2.bias", "head.weight", "head.bias"});
}
